"""How many examples and seeds the tests try, by HYPOTHESIS_PROFILE.

quick is what `make test` takes, ci is what must hold before a change lands, and explore draws new and many more examples.
"""

import os

PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "quick")
QUICK_SHARE = 10


def up_to(count):
    """Return how many of `count` examples are tried: all of them, or a tenth where tests should be quick."""
    return max(1, count // QUICK_SHARE) if PROFILE == "quick" else count


def some_of(cases, count):
    """Return all cases, or the first `count` where tests should be quick."""
    return cases[:count] if PROFILE == "quick" else cases
