"""The documentation as a site: pages of docs/, and a reference that is made from the code."""
