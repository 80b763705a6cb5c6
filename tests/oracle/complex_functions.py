"""Writes tests/data/oracle/complex_functions.txt: functions of complex numbers at hard points, computed by mpmath with enough digits.

Run with any Python that has mpmath. A line is

  <type> <function> <re> <im> [<re> <im> of the second argument] <re> <im> of the result

in C's hexadecimal notation: arguments of the type, results rounded to double. The points are at every scale that doubles have: near 0, 1 and i, near
zeros of parts of the result, near poles and branch cuts, and where intermediate results would overflow or underflow.
Then come arguments with parts that are 0, infinite or NaN, for functions that Python's cmath has: its answers are those of C99's Annex G.
"""
import cmath
import itertools
import os
import random
import struct
import sys

from mpmath import mp, mpc, mpf

mp.prec = 2400
MANY = {'complex128': 40, 'complex64': 15}  # points for each function

FUNCTIONS = {
    'Sqrt': mp.sqrt, 'Rsqrt': lambda z: 1 / mp.sqrt(z), 'Reciprocal': lambda z: 1 / z, 'Sign': lambda z: z / abs(z),
    'ComplexAbs': lambda z: mpc(abs(z), 0), 'Angle': lambda z: mpc(mp.arg(z), 0),
    'Log': mp.log, 'Log1p': lambda z: mp.log(1 + z), 'Exp': mp.exp, 'Expm1': lambda z: mp.exp(z) - 1,
    'Sigmoid': lambda z: 1 / (1 + mp.exp(-z)), 'Sin': mp.sin, 'Cos': mp.cos, 'Tan': mp.tan, 'Sinh': mp.sinh, 'Cosh': mp.cosh,
    'Tanh': mp.tanh, 'Asin': mp.asin, 'Acos': mp.acos, 'Atan': mp.atan, 'Asinh': mp.asinh, 'Acosh': mp.acosh, 'Atanh': mp.atanh,
    'RealDiv': lambda x, y: x / y, 'Pow': lambda x, y: mp.exp(y * mp.log(x))}
EXPONENTIAL = {'Exp', 'Expm1', 'Sigmoid', 'Sinh', 'Cosh', 'Tanh'}  # the real part is an exponent
CIRCULAR = {'Sin', 'Cos', 'Tan'}                                   # the imaginary part is
SCALES = [5e-324, 3e-320, 2.3e-308, 1e-300, 1e-200, 1e-160, 1e-154, 1e-100, 1e-30, 1e-17, 1e-9, 1e-8, 1e-3, 0.25, 0.5, 1, 2, 10, 21, 50, 300,
          1e5, 1e8, 1e16, 1e30, 1e100, 1e153, 1e154, 1e155, 1e200, 1e300, 1.7e308]


def near(value, dice):
    """A double a few units in the last place, or some power of two of them, away from a value."""
    if value == 0:
        return dice.choice(SCALES[:12])
    units = dice.choice([0, 1, 2, 3]) << dice.choice([0, 0, 1, 8, 25, 40])
    return value * (1 + dice.choice([-1, 1]) * units * 2.0 ** -53)


def any_scale(dice, limit=1.79e308):
    while True:
        value = dice.choice(SCALES) * dice.uniform(0.5, 1.9)
        if 0 < value <= limit:
            return value if dice.random() < 0.5 else -value


def point(name, dice):
    kind = dice.randrange(5)
    limit = 1500.0 if name in EXPONENTIAL | CIRCULAR and dice.random() < 0.8 else 1.79e308
    if kind == 0:
        x, y = any_scale(dice, limit), any_scale(dice)
    elif kind == 1:
        x, y = dice.uniform(-3, 3), dice.uniform(-3, 3)
    elif kind == 2:  # near the unit circle, also that around -1
        angle = dice.uniform(-3.2, 3.2)
        x, y = near(float(mp.cos(angle)), dice), near(float(mp.sin(angle)), dice)
        if name == 'Log1p':
            x -= 1
            if dice.random() < 0.5:
                y = any_scale(dice, 0.01)
                x = near(-y * y / 2, dice) or -1e-300
    elif kind == 3:  # near branch points, poles and zeros of parts
        y = near(float(mp.pi / 2 * dice.randint(-9, 9)), dice)
        x = any_scale(dice, 40) if dice.random() < 0.5 else dice.uniform(690, 760)
        if dice.random() < 0.4:
            x = float(mp.log(abs(mp.cos(y)))) * dice.choice([-1, 1]) * (1 + 2.0 ** -dice.randint(1, 40))
        if name not in EXPONENTIAL | CIRCULAR:
            x, y = near(dice.choice([-1, 1, 0]), dice), dice.choice([near(0, dice), any_scale(dice, 1)])
    else:
        x, y = any_scale(dice, limit), any_scale(dice, 3)
        if name in {'Expm1', 'Sigmoid'} and dice.random() < 0.7:  # where the real part vanishes
            y = dice.uniform(-1, 1) * dice.choice([1, 1e-3, 1e-8])
            x = float(-mp.log(mp.cos(y))) * (1 + dice.choice([-1, 1]) * 2.0 ** -dice.randint(1, 40))
            if name == 'Sigmoid':
                x, y = -x, float(mp.pi) - y
    if name in CIRCULAR or (name in {'Atan', 'Asinh'} and dice.random() < 0.5):
        x, y = y, x
    return mpc(x or 1.0, y or 1.0)


def quotient(dice):
    """Dividend and divisor; sometimes nearly parallel or at right angles, so that a part of the quotient vanishes."""
    y = mpc(any_scale(dice), any_scale(dice)) if dice.random() < 0.5 else mpc(dice.uniform(-2, 2), dice.uniform(-2, 2))
    if dice.random() < 0.4:
        x = y * dice.choice([mpc(1), mpc(0, 1)]) * mpf(2) ** dice.randint(-1000, 1000)
        x = mpc(near(float(x.real), dice), near(float(x.imag), dice))
        if x.real and x.imag and abs(x.real) < mpf(1.7e308) and abs(x.imag) < mpf(1.7e308):
            return x, y
    return mpc(any_scale(dice), any_scale(dice)), y


def power(dice):
    """Base and exponent; sometimes so that the exponents are whole, a part of the result is small, or the base is near the unit circle."""
    x = mpc(any_scale(dice), any_scale(dice)) if dice.random() < 0.5 else mpc(dice.uniform(-3, 3), dice.uniform(-3, 3))
    y = mpc(dice.uniform(-4, 4), dice.uniform(-4, 4)) * dice.choice([1, 1, 1e-3, 10])
    kind = dice.randrange(6)
    if kind == 0:
        y = mpc(dice.choice([-3, -2, -1, 2, 3, 4, 5, 7]), dice.choice([0, 0, 1, -2]))
    elif kind == 1:  # the angle of the result is near a multiple of half pi
        turns, log = mp.pi / 2 * dice.randint(-9, 9), mp.log(x)
        y = mpc(y.real, (turns - y.real * mp.arg(x)) / (log.real or 1) * (1 + mpf(2) ** -dice.randint(1, 40)))
    elif kind == 2:
        angle = dice.uniform(-3.2, 3.2)
        x, y = mpc(near(float(mp.cos(angle)), dice), near(float(mp.sin(angle)), dice)), y * dice.choice([1, 100, 1e4])
    result = FUNCTIONS['Pow'](mpc(float(x.real), float(x.imag)), mpc(float(y.real), float(y.imag)))
    parts = sorted([abs(result.real), abs(result.imag)])
    return (x, y) if parts[0] > parts[1] * mpf(2) ** -45 else power(dice)  # others lose digits (src/ops/support/complex_math.h)


def rounded(value):
    """A double, subnormal numbers rounded once."""
    if value == 0 or abs(value) >= mpf(2) ** 1025:
        return 0.0 if value == 0 else float('inf') * (1 if value > 0 else -1)
    exponent = max(mp.frexp(value)[1] - 53, -1074)
    with mp.workprec(2400):
        units = int(mp.nint(mp.ldexp(value, -exponent)))
    try:
        return float(mp.ldexp(mpf(units), exponent)) if units else 0.0
    except OverflowError:
        return float('inf') * (1 if value > 0 else -1)


def as_float(value):
    """A float of about the same digits, at a scale that floats have."""
    if not 2.0 ** -149 <= abs(value) < 2.0 ** 128:
        value = (abs(value) ** 0.1) * (1 if value > 0 else -1)
    return struct.unpack('f', struct.pack('f', value))[0]


def lines(kind, name, count, dice):
    for _ in range(count):
        arguments = quotient(dice) if name == 'RealDiv' else power(dice) if name == 'Pow' else (point(name, dice),)
        arguments = [mpc(float(z.real), float(z.imag)) for z in arguments]
        if kind == 'complex64':
            arguments = [mpc(as_float(float(z.real)), as_float(float(z.imag))) for z in arguments]
        result = mpc(FUNCTIONS[name](*arguments))
        numbers = [float(part) for z in arguments for part in (z.real, z.imag)] + [rounded(result.real), rounded(result.imag)]
        yield ' '.join([kind, name] + [number.hex() for number in numbers])


def special_lines():
    parts = [0.0, -0.0, 1.0, -1.0, float('inf'), -float('inf'), float('nan')]
    for name in ['Sqrt', 'Log', 'Asin', 'Acos', 'Atan', 'Asinh', 'Acosh', 'Atanh']:
        for x, y in itertools.product(parts, parts):
            try:
                result = getattr(cmath, name.lower())(complex(x, y))
            except ValueError:  # a pole
                continue
            yield ' '.join(['complex128', name] + [part.hex() for part in (x, y, result.real, result.imag)])


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), '../data/oracle/complex_functions.txt')
    times = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    with open(path, 'w') as out:
        for kind, name in itertools.product(MANY, FUNCTIONS):
            dice = random.Random(kind + name)
            for line in lines(kind, name, MANY[kind] * times, dice):
                out.write(line + '\n')
        for line in special_lines():
            out.write(line + '\n')


if __name__ == '__main__':
    main()
