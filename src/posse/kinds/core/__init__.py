"""Pods, nodes, namespaces, services, events, leases."""
