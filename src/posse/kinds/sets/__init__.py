"""JobSets and LeaderWorkerSets."""
