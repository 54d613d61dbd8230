"""The StatefulSet controller: what is observed of a set, its pods and revisions goes in, what is to be changed comes out."""
