"""Mathematics on arrays, without words: it imports NumPy and SciPy only."""
