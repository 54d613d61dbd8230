"""posse doctor: what is wrong with a cluster's set-up, and what to do about it."""
