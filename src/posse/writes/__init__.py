"""What decisions of the engine mean as API writes: which, in which order, and what a failure returns as."""
