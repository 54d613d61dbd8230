"""Nodes as NumPy columns: resources, labels, taints, topology domains. Knows no pods."""
