"""A real cluster: leader election, remote controllers, health probes."""
