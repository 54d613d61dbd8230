"""Controllers: reconcilers run on watched objects."""
