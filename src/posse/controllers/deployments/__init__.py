"""Controllers of Deployments and of their ReplicaSets."""
