"""`python -m pneuma_bench.cli`, the command `pneuma-bench`."""

from pneuma_bench.cli.app import main

main()
