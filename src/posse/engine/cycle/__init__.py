"""One call of `decide`, step by step."""
