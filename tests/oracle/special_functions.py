"""Writes tests/data/oracle/special_functions.txt: special functions of real numbers, computed by mpmath with 60 digits.

Run with any Python that has mpmath. A line is an op, its arguments and its result, in C's hexadecimal notation.
"""
import math
import os
import random

from mpmath import mp, mpf

mp.dps = 60
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')


def dawson(x):
    return mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x)


def lower_by_a(a, x):
    return mp.diff(lambda t: mp.gammainc(t, 0, x, regularized=True), a)


def sample_by_a(a, x):
    return -lower_by_a(a, x) / (mp.exp(-x) * x ** (a - 1) / mp.gamma(a))


ONE = {
    'BesselI0': lambda x: mp.besseli(0, x), 'BesselI0e': lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    'BesselI1': lambda x: mp.besseli(1, x), 'BesselI1e': lambda x: mp.besseli(1, x) * mp.exp(-abs(x)),
    'BesselK0': lambda x: mp.besselk(0, x), 'BesselK0e': lambda x: mp.besselk(0, x) * mp.exp(x),
    'BesselK1': lambda x: mp.besselk(1, x), 'BesselK1e': lambda x: mp.besselk(1, x) * mp.exp(x),
    'BesselJ0': lambda x: mp.besselj(0, x), 'BesselJ1': lambda x: mp.besselj(1, x),
    'BesselY0': lambda x: mp.bessely(0, x), 'BesselY1': lambda x: mp.bessely(1, x),
    'Dawsn': dawson, 'Expint': mp.ei, 'FresnelCos': mp.fresnelc, 'FresnelSin': mp.fresnels, 'Spence': lambda x: mp.re(mp.polylog(2, 1 - x)),
}
SYMMETRIC = {'BesselI0', 'BesselI0e', 'BesselI1', 'BesselI1e', 'BesselJ0', 'BesselJ1', 'Dawsn', 'FresnelCos', 'FresnelSin'}
POINTS = [1e-300, 1e-20, 1e-5, 0.01, 0.1, 0.3, 0.49, 0.51, 0.7, 0.99, 1.01, 1.19, 1.21, 1.5, 1.99, 2.01, 3, 4.9, 5.1, 7.3, 9.9, 10.1, 15, 19.9, 20.1,
          30, 39.9, 40.1, 55.5, 100, 300, 690, 1e4, 1e6]
TWO = {
    'Igamma': lambda a, x: mp.gammainc(a, 0, x, regularized=True), 'Igammac': lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    'IgammaGradA': lower_by_a, 'RandomGammaGrad': sample_by_a, 'Zeta': lambda s, q: mp.zeta(s, q),
}
PARAMETERS = [1e-5, 0.1, 0.5, 0.9, 1, 1.5, 3.25, 9.5, 14.9, 30, 99.5, 1000]
RATIOS = [1e-3, 0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 2, 5]


def main():
    dice = random.Random(1)
    lines = []

    def add(op, arguments, value):
        result = float(value)
        if result == 0 or math.isinf(result) or abs(result) < 1e-290:
            return
        lines.append(' '.join([op, *(float(x).hex() for x in arguments), result.hex()]))

    for op, function in ONE.items():
        for x in POINTS:
            x *= dice.uniform(0.999, 1.001)
            if op in SYMMETRIC and dice.random() < 0.3:
                x = -x
            add(op, [x], function(mpf(x)))
    for op, function in TWO.items():
        for a in PARAMETERS:
            for ratio in RATIOS if op != 'Zeta' else [1e-3, 0.3, 1, 2.5, 30]:
                x = (ratio * a if op != 'Zeta' else ratio) * dice.uniform(0.999, 1.001)
                if op == 'Zeta':
                    if a <= 1 or a > 200:
                        continue
                    add(op, [a, x], function(mpf(a), mpf(x)))
                elif op in ('Igamma', 'Igammac') or (a >= 0.1 and a < 200):
                    add(op, [a, x], function(mpf(a), mpf(x)))
    for a in [0.01, 0.5, 1, 2.5, 14.9, 60, 1000]:
        for b in [0.01, 0.5, 1, 2.5, 14.9, 60, 1000]:
            for place in [0.01, 0.5, 0.9, 1.1, 1.6]:
                x = min(place * a / (a + b), 0.5 + a / (a + b) / 2)
                add('Betainc', [a, b, x], mp.betainc(mpf(a), mpf(b), 0, mpf(x), regularized=True))
    with open(os.path.join(ROOT, 'tests', 'data', 'oracle', 'special_functions.txt'), 'w', encoding='utf-8') as out:
        out.write('\n'.join(lines) + '\n')
    print(f'{len(lines)} values')


if __name__ == '__main__':
    main()
