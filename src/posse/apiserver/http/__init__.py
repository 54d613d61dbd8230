"""The HTTP face of the API server: paths, discovery, tables, watch streams, authentication."""
