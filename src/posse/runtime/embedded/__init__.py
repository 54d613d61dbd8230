"""The embedded cluster: API server, scheduler, controllers and simulated nodes in one process."""
