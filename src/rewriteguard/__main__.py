"""`python -m rewriteguard` is the command `rewriteguard`."""

from rewriteguard.cli import main

if __name__ == "__main__":
    main()
