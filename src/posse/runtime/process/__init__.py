"""The process: clock, logs, signals, options."""
