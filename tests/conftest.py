import pytest
from helpers import load


@pytest.fixture(scope="session")
def kieval():
    return load("kieval", keep_in_memory=True)


@pytest.fixture(scope="session")
def oinerval():
    return load("oinerval", keep_in_memory=True)


@pytest.fixture(scope="session")
def bag_of_entities():
    return load("bag_of_entities", keep_in_memory=True)
