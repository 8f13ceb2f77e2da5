"""This folder as a package, whatever its name: in a Space it is called `app`, like the script that is run.

A page says `from space.widget import Page`; the shared files then find each other by relative imports.
"""

from pathlib import Path

__path__ = [str(Path(__file__).parent)]
