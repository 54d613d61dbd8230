"""What Posse needs in a cluster: custom resource definitions, permissions, and the objects that run it."""
