"""The Job controller: what is observed of a Job and its pods goes in, what is to be changed comes out."""
