"""A trace of jobs on a cluster in virtual time: the engine decides, nothing sleeps, nothing is written."""
