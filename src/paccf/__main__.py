"""`python -m paccf`."""

from paccf.cli import main

main(prog_name="paccf")
