"""`python -m posse` is the `posse` command."""

from posse.cli.main import main

main()
