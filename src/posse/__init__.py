"""Posse schedules workloads: pods that belong together start together or not at all."""
