"""The cluster of `posse up --control-plane kubernetes`: programs of Kubernetes, Posse, simulated nodes."""
