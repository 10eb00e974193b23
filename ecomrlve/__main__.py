"""`python -m ecomrlve` is the command line."""

from ecomrlve.cli import main

main()
