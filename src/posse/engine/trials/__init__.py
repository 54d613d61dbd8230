"""One turn of a pod or group: place it, preempt for it, or ask the exact solver."""
