"""Quality of the partitions, with peers beside it; writes docs/quality.md.

make quality
python -m benchmarks.quality [--quick | --smoke] [--only SECTION ...]
"""
