"""posse history: what ran, waited and was preempted."""
