"""Claims of devices: made from templates, released when no pod uses them; pods on tainted devices end."""
