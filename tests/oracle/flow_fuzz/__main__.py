"""Compares control flow with TensorFlow's: python3 tests/oracle/flow_fuzz [--first N] [--count N] [--program PATH] [--store].

Builds random graphs, sound ones and broken ones, runs them in TensorFlow, and gives the answers to `test_golden --filter
random_control_flow`, which replays them. `--store` writes the small corpus that the tests replay, tests/data/oracle/control_flow.pb.
"""
import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ROOT = FOLDER.parents[2]
STORED = ROOT / 'tests/data/oracle/control_flow.pb'
sys.path[:0] = [str(FOLDER), str(FOLDER.parent / 'golden'), str(FOLDER.parent)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--first', type=int, default=1, help='the first seed')
    parser.add_argument('--count', type=int, default=200, help='seeds of each kind')
    parser.add_argument('--kind', choices=['sound', 'broken'], action='append')
    parser.add_argument('--program', default=ROOT / 'build/debug/test_golden')
    parser.add_argument('--store', action='store_true')
    options = parser.parse_args()
    if importlib.util.find_spec('tensorflow') is None:
        print('skipped: this Python has no TensorFlow; `pip install -r tests/oracle/requirements.txt` installs it')
        return 0
    from oracle_process import OracleProcess
    oracle, cases = OracleProcess(), []
    for kind in options.kind or ['sound', 'broken']:
        for seed in range(options.first, options.first + options.count):
            cases.append(oracle.case(kind, seed))
    oracle.end()
    if options.store:
        STORED.write_bytes(b''.join(cases))
        return 0
    found = ROOT / 'build/flow_fuzz.pb'
    found.write_bytes(b''.join(cases))
    print(f'{len(cases)} graphs in {found}')
    return subprocess.run([options.program, '--filter', 'random_control_flow'], env={**os.environ, 'TFCORE_FLOW_FUZZ': str(found)},
                          check=False).returncode


if __name__ == '__main__':
    sys.exit(main())
