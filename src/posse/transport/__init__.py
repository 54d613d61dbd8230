"""The interface between Posse and a cluster, embedded or remote."""
