"""`python -m liaison`: the command line."""

from liaison.cli import main

if __name__ == "__main__":
    main()
