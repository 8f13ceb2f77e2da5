import pytest
from helpers import load

# Holds no doctest, and needs torch to be imported.
collect_ignore = ["forced_models.py"]

START_UP = pytest.StashKey[dict]()


def pytest_configure(config):
    config.stash[START_UP] = {}


def pytest_terminal_summary(terminalreporter, config):
    """How long the pages took to answer: reported, not asserted."""
    for name, seconds in config.stash[START_UP].items():
        terminalreporter.write_line(f"page of {name}: answers {seconds:.1f} s after its start")


@pytest.fixture(scope="session")
def kieval():
    return load("kieval", keep_in_memory=True)


@pytest.fixture(scope="session")
def oinerval():
    return load("oinerval", keep_in_memory=True)


@pytest.fixture(scope="session")
def bag_of_entities():
    return load("bag_of_entities", keep_in_memory=True)
