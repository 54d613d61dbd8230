"""A client of any Kubernetes API server: the seam of `posse.transport` over HTTP."""
