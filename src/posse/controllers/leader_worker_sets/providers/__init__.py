"""Gangs in the terms of each scheduler: what tells it that the pods of a replica start together."""
