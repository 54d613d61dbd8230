"""Recordings: all that an engine absorbed and when it decided, in files; and running them again."""
