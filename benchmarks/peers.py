"""What people use today, each in a virtual environment of its own below benchmarks/output."""

import subprocess
import venv
from pathlib import Path

OUTPUT = Path(__file__).parent / "output"
PACKAGES = {
    "anls-star": "anls-star==1.0.1",
    "stickler-eval": "stickler-eval==1.0.0",
    "zss": "zss==1.2.0",
    "ie-eval": "ie-eval==0.2.0",
    "teklia-nerval": "teklia-nerval==0.3.3",
    "seqeval": "seqeval==1.2.2",
    "nervaluate": "nervaluate==1.2.1",
}


def python_of_peer(name):
    """The interpreter of a peer's environment, which is made when it is first needed."""
    folder = OUTPUT / "peers" / name
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", PACKAGES[name]], check=True)
        (folder / "ready").touch()
    return str(python)
