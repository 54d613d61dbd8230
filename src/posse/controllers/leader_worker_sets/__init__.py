"""The LeaderWorkerSet controller: what is observed of a set and its replicas goes in, what is to be changed comes out."""
