"""The believed cluster: attached pods, drafts, scores per scheduling class, nominations, reservations."""
