"""The array types of the engine's columns, and how rows are picked from them."""

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
Rows = slice | IntArray

ALL_ROWS = slice(None)
