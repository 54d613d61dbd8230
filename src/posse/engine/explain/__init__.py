"""Read-only answers: status, explanation, statistics."""
