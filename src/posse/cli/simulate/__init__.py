"""`posse simulate`: a trace of jobs on a cluster in virtual time."""
