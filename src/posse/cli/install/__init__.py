"""The verb install: manifests for a real cluster."""
