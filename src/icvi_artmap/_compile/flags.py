"""The one place for compile flags.

Strict arithmetic: no fastmath, so a compiled sum has the value its source says, on every machine.
``error_model="numpy"`` lets a division by zero give an infinity instead of a branch per division;
kernels guard the divisions that can be 0/0.
"""

from __future__ import annotations

from typing import Any

#: What decides about the results. These options are documented by numba.
DOCUMENTED: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

#: The rest spares work: no wrapper for C, and no counting of references, since nothing allocates.
FLAGS: dict[str, Any] = {**DOCUMENTED, "no_cfunc_wrapper": True, "_nrt": False}
