"""Programs of Kubernetes on loopback: found or built, started, watched and stopped."""
