"""``python -m benchmarks``: the headline figures of speed."""

from benchmarks.overview import main

if __name__ == "__main__":
    main()
