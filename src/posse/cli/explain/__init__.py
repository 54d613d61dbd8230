"""Verbs that explain: explain, gangs."""
