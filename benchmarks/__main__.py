"""``uv run python -m benchmarks``: the headline figures."""

from benchmarks.overview import main

if __name__ == "__main__":
    main()
