"""The ops that update resource variables, dense and sparse."""
from training import record


def cases(golden):
    record(golden, 'Resource(Sparse)?Apply.*')
