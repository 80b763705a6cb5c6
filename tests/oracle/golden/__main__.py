"""Writes tests/data/golden: python3 tests/oracle/golden [family ...] (all families when none is named).

A family is a module beside this one that has a function `cases(golden)`; its file carries its name.
"""
import importlib
import pathlib
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

import environment  # noqa: F401, E402
from writer import Golden  # noqa: E402

families = sys.argv[1:] or sorted(path.stem for path in FOLDER.glob('*.py') if path.stem != '__main__')
for family in families:
    module = importlib.import_module(family)
    if hasattr(module, 'cases'):
        golden = Golden(family)
        module.cases(golden)
        golden.write()
