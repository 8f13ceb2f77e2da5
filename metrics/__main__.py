"""The command line: python -m metrics VERB. Run a verb with --help for what it takes."""

import argparse
import os
import sys

from .commands import add_demo, add_score
from .propose_schema import add_schema

PIPE_SIGNAL = 13


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m metrics", description="Scores for document information extraction."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for add in (add_score, add_demo, add_schema):
        add(verbs)
    try:
        given, unknown = parser.parse_known_args(arguments)
        given.run(given, unknown)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, e.g. head, has enough. Python flushes once more when it ends: that must find an open file.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + PIPE_SIGNAL
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
