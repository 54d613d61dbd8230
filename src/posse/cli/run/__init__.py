"""The verb run: schedule for a real cluster."""
