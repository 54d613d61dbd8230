"""Devices of Dynamic Resource Allocation: pools, claims, and which devices a pod would get on a node."""
