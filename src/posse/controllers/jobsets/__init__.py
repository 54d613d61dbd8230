"""The JobSet controller: what is observed of a JobSet and its Jobs goes in, what is to be changed comes out."""
