"""The embedded API server: Kubernetes REST semantics over the store."""
