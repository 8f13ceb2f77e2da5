"""The command line: python -m metrics VERB. Run a verb with --help for what it takes."""

import argparse
import sys

from .commands import add_demo, add_score
from .propose_schema import add_schema


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m metrics", description="Scores for document information extraction."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (add_score, add_demo, add_schema):
        add(verbs)
    given, unknown = parser.parse_known_args(arguments)
    try:
        given.run(given, unknown)
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
