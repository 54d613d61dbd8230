"""Planned and unplanned disruption of pods: budgets, taints, nodes that fail."""
