"""The functions that an expression may call: those of CEL, and those that Kubernetes adds."""

from posse.cel.functions import gather
from posse.cel.library.collections import COLLECTIONS
from posse.cel.library.conversions import CONVERSIONS
from posse.cel.library.formats import FORMATS
from posse.cel.library.formatting import FORMATTING
from posse.cel.library.kubernetes import ADDRESSES, QUANTITIES, VERSIONS
from posse.cel.library.operators import OPERATORS
from posse.cel.library.strings import STRINGS
from posse.cel.library.times import TIMES
from posse.cel.library.urls import URLS

LIBRARY = gather(
    (
        OPERATORS,
        CONVERSIONS,
        STRINGS,
        FORMATTING,
        TIMES,
        COLLECTIONS,
        QUANTITIES,
        VERSIONS,
        ADDRESSES,
        URLS,
        FORMATS,
    )
)
