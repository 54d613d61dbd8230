"""Kubernetes objects as frozen values, and the small arithmetic they need. Imports nothing of Posse."""
