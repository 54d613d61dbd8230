"""Informers and what they feed: work queues, events, permission warnings."""
