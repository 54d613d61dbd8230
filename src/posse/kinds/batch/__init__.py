"""Jobs and StatefulSets."""
