"""The seam between Posse and a cluster: what can be asked of it and what comes back, whichever cluster it is."""
