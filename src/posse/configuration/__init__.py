"""Turns a KubeSchedulerConfiguration into profiles of rules. Reads no files and loads no packages."""
