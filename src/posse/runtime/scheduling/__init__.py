"""The scheduler loop: engine in, API writes out, metrics and logs beside it."""
