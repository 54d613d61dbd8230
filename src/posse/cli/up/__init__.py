"""The verb up: the embedded cluster with its live view."""
