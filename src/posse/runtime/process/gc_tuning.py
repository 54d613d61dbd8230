"""How often the process looks for objects that only refer to each other.

A cluster in memory is millions of objects that stay, and hardly anything in it refers in circles. Looking
after every 700 new ones, as Python does by itself, takes an eighth of the time that a burst of pods takes;
and looking at all that has come since a burst began stops everything for a third of a second.
"""

import gc

YOUNG, MIDDLE_AGED, OLD = 50_000, 200, 50


def collect_seldom() -> None:
    gc.set_threshold(YOUNG, MIDDLE_AGED, OLD)


def leave_memory_to_the_system() -> None:
    """To be called last: what is left refers in circles, and taking it apart would hold up the end of the
    process for seconds.
    """
    gc.freeze()
