"""`python -m mirage` is the command line."""

from mirage.cli import main

if __name__ == "__main__":
    main()
