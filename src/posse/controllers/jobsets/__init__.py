"""The JobSet controller."""
