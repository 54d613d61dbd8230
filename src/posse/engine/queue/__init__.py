"""The scheduling queue: backlog, backoff, gathering of pods, starvation guard."""
