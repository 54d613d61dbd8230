"""Cluster events and failed writes as updates of what the engine knows."""
