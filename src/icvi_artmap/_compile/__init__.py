"""Compiling: flags, the folder for compiled code, what is taken from numba's insides."""
