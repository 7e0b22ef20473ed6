"""Mathematics on arrays, without words: it imports NumPy, SciPy and ArviZ only."""
