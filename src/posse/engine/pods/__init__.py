"""How pods are read: classes, affinity terms, selectors, the census of pods per node."""
