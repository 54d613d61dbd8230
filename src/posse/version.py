"""The version of the installed package; pyproject.toml is the one place where it is written down."""

from importlib.metadata import version

VERSION = version("posse")
