"""Quotients by a number that is known, rounded as IEEE says, in two operations.

    x / 0.3    ->    fma(x, h, x * l)        h + l is 1 / 0.3 to 48 bits

Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the
divisor is known in advance" (2004). Infinities, zeros and NaN become what a division makes of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache
from math import gcd

import numpy as np

BITS = 24  # of a float32
FINE = 2**200  # steps of 1 that reciprocals are cut at
GREATEST = Fraction(2**100)  # divisor; no part of its reciprocal is denormal
DOUBTFUL = 8


@lru_cache(maxsize=4096)
def reciprocal_of(divisor: float) -> tuple[float, float] | None:
    """(h, l) such that `fma(x, h, x * l)` is x / divisor to the nearest for all float32 whose
    quotient is above 2**-100; l is 0 for powers of two. None where there are none.

    h is cut, so that h and l have one sign and an infinite x has an infinite quotient. What is lost
    of l and of x * l is below 2**-22 of a unit in the last place of the quotient. Of mantissas
    X / Y, 24 bits each, a quotient is D / 2Y units from the middle of two floats, D a whole number
    but 0: only few X have one that is small, and these are tried, with l and its neighbours.
    """
    number = float(np.float32(divisor))
    size = abs(Fraction(number)) if np.isfinite(number) else Fraction(0)
    if not 1 / GREATEST < size < GREATEST:
        return None
    exact = 1 / size
    steps = int(exact * FINE)
    dropped = steps.bit_length() - BITS
    high = Fraction(steps >> dropped << dropped, FINE)
    near = np.float32(float(exact - high))
    sign = -1.0 if number < 0 else 1.0
    for low in (near, *np.nextafter(near, np.array([0, 1], np.float32))) if near else (near,):
        if not low or _rounds(size, high, float(low)):
            return sign * float(high), sign * float(low)
    return None


def _rounds(size: Fraction, high: Fraction, low: float) -> bool:
    """Whether quotients by `size` close to the middle of two floats fall on their own side."""
    for x, shift, d in doubtful(size):
        middle = (x - Fraction(d, 2**shift)) / size
        found = x * high + Fraction(float(np.float32(x * low)))
        if (found - middle) * d <= 0:
            return False
    return True


def doubtful(size: Fraction) -> Iterator[tuple[int, int, int]]:
    """(X, s, D) of the mantissas X whose quotient by `size` is close to the middle M / 2**s of two
    floats: 2**s X = M Y + D.
    """
    y = size.numerator << BITS >> size.numerator.bit_length()
    for shift, low, end in ((BITS, y, 2**BITS), (BITS + 1, 2 ** (BITS - 1), y)):
        common = gcd(2**shift, y)
        period = y // common
        for d in (n for n in range(-DOUBTFUL, DOUBTFUL + 1) if n and n % common == 0):
            first = d // common * pow(2**shift // common, -1, period) % period
            for x in range(low + (first - low) % period, end, period):
                if (2**shift * x - d) // y % 2:
                    yield x, shift, d
