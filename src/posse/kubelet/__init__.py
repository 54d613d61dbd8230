"""Simulated nodes: what a kubelet would report, without running anything."""
