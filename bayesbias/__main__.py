"""``python -m bayesbias``: the command line."""

from bayesbias.cli import main

if __name__ == "__main__":
    main()
