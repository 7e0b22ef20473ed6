"""The numeric core: arrays in, arrays out; NumPy and SciPy only."""
