"""Kubernetes protobuf: tables of messages made from the published descriptors, a reader and a writer."""
