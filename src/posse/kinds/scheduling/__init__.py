"""Workloads, pod groups, priority classes, disruption budgets."""
