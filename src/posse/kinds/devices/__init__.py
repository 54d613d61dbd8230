"""Devices: resource slices, device classes, claims and their templates, device taints."""
