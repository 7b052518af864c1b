"""The command line of the benchmarks: `pneuma-bench`."""
