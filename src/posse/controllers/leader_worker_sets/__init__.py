"""The LeaderWorkerSet controller."""
