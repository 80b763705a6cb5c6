"""The ops that update reference variables, dense and sparse."""
from training import record


def cases(golden):
    record(golden, '(Sparse)?Apply.*')
