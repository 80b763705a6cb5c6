"""Einsum: equations of one and two inputs, with gradients."""
import numpy as np

from data import bfloat16, numbers
from writer import SUMMED, TO_LARGEST

# equation, shapes
EQUATIONS = [
    ('ij->ji', (2, 3)), ('ij->i', (2, 3)), ('ij->', (2, 3)), ('ii->i', (3, 3)), ('ii->', (3, 3)), ('i->ii', (3,)), ('iij->ji', (2, 2, 3)),
    ('iijk->k', (2, 2, 3, 2)), ('ij->ijj', (2, 3)), ('...ij->...ji', (2, 1, 2, 3)), ('i...->...i', (2, 3, 2)), ('i...j->j...', (2, 3, 2)), ('->', ()),
    ('...ii->...i', (2, 3, 3)), ('abc->cab', (2, 1, 3)), ('ij->ij', (2, 3)),
    ('ij,jk->ik', (2, 3), (3, 4)), ('ij,jk->ki', (2, 3), (3, 4)), ('ji,jk->ik', (3, 2), (3, 4)), ('ij,kj->ik', (2, 3), (4, 3)), ('ji,kj->ki', (3, 2), (4, 3)),
    ('bij,bjk->bik', (2, 2, 3), (2, 3, 2)), ('bij,bkj->bik', (2, 2, 3), (2, 2, 3)), ('abc,cd->abd', (2, 2, 3), (3, 2)), ('abc,cde->abde', (2, 1, 3), (3, 2, 2)),
    ('btnh,bsnh->bnts', (2, 3, 2, 2), (2, 2, 2, 2)), ('bnts,bsnh->btnh', (2, 2, 3, 2), (2, 2, 2, 3)), ('abcd,cde->abe', (2, 1, 3, 2), (3, 2, 2)),
    ('i,i->i', (3,), (3,)), ('i,i->', (3,), (3,)), ('i,j->ij', (2,), (3,)), ('i,j->ji', (2,), (3,)), ('i,->i', (3,), ()), ('ab,cd->', (2, 3), (2, 2)),
    ('ij,jk->k', (2, 3), (3, 2)), ('ij,jk->jik', (2, 3), (3, 2)), ('ii,ij->j', (3, 3), (3, 2)), ('ij,jk->iik', (2, 3), (3, 2)), ('abca,bd->dd', (2, 3, 2, 2), (3, 2)),
    ('...ij,...jk->...ik', (2, 2, 3), (2, 3, 2)), ('...ij,jk->...ik', (2, 1, 2, 3), (3, 2)), ('ij,...jk->...ik', (2, 3), (3, 3, 2)),
    ('...ij,...jk->...ik', (2, 1, 2, 3), (3, 3, 2)), ('i...,i...->...', (3, 1, 2), (3, 2, 1)), ('i...j,j...->i...', (2, 3, 2), (2, 1)), ('...,...->...', (2, 1), (3,)),
    ('ia...,aj...->ij...', (2, 3, 2), (3, 2, 1)), ('...i,...->...', (2, 3), (2,)),
    ('ij,jk->ik', (0, 3), (3, 2)), ('ij,jk->ik', (2, 0), (0, 3)), ('ij,jk->i', (2, 0), (0, 3)), ('ij->j', (0, 2)),
]


def cases(golden):
    def x(shape, dtype=np.float32):
        return numbers(golden.random, shape, dtype)

    for equation, *shapes in EQUATIONS:
        golden.op('Einsum', [[x(shape) for shape in shapes]], {'equation': equation}, name=f'{equation} {shapes}', tolerance=TO_LARGEST, gradient=True)
    for dtype in [np.float64, np.float16, bfloat16, np.int32, np.int64, np.complex64, np.complex128]:
        differentiable = {'gradient': True} if np.dtype(dtype).kind in 'fc' and dtype != bfloat16 else {}
        golden.op('Einsum', [[x((2, 3), dtype), x((3, 2), dtype)]], {'equation': 'ij,jk->ki'}, tolerance=TO_LARGEST, **differentiable)
        golden.op('Einsum', [[x((2, 2, 3), dtype)]], {'equation': 'iij->j'}, tolerance=TO_LARGEST, **differentiable)
    for equation, *shapes in [('ij->i', (2, 3, 4)), ('ij,jk->ik', (2, 3), (4, 4)), ('ii->i', (2, 3)), ('i...->i', (3, 2)), ('...ij->...', (3,))]:
        golden.fails('Einsum', [[x(shape) for shape in shapes]], {'equation': equation}, name=f'{equation} {shapes}')
