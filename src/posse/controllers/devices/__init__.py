"""Claims of devices: made from templates, released when nobody uses them; pods on tainted devices end."""
