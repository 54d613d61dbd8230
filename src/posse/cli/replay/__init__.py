"""`posse replay`: runs a recording again."""
