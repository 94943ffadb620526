"""Types of arrays."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]
"""Indices, or numbers of things."""
Flags = NDArray[np.bool_]
Integers = NDArray[np.int64]
