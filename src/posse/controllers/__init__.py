"""Pure reconcilers: observed objects in, changes out."""
