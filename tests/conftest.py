import pytest
from helpers import load


@pytest.fixture(scope="session")
def kieval():
    return load("kieval", keep_in_memory=True)
