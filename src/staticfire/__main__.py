"""`python -m staticfire`, the same as `staticfire`."""

from __future__ import annotations

from staticfire.cli import main

if __name__ == "__main__":
    main(prog_name="staticfire")
