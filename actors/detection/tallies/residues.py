"""Integers of any size by their residues modulo primes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

EXACT_BITS = 62
"""Numbers of so many bits are exact in 64 bits, with a sum of two of them."""

PRIME_BITS = 30
"""The whole bits of a prime: the product of two residues fits 64 bits."""

WITNESSES = (2, 3, 5, 7)
"""Bases that tell primes below 2**31 from all other numbers (Miller-Rabin)."""

_primes: list[int] = []


def moduli(bits: int) -> list[int]:
    """Return primes whose product has more than so many bits; [0], for no modulus, where 64 bits are enough."""
    if bits <= EXACT_BITS:
        return [0]
    count = -(-(bits + 1) // PRIME_BITS)
    candidate = _primes[-1] - 2 if _primes else 2**31 - 1
    while len(_primes) < count:
        if is_prime(candidate):
            _primes.append(candidate)
        candidate -= 2
    return _primes[:count]


def is_prime(number: int) -> bool:
    """Return whether an odd number between 2**30 and 2**31 is prime."""
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in WITNESSES:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        if not any((power := power * power % number) == number - 1 for _ in range(twos - 1)):
            return False
    return True


def whole(residues: Sequence[npt.NDArray[np.int64]], primes: Sequence[int]) -> npt.NDArray[Any]:
    """Return the numbers that have these residues (Garner): 64-bit integers where there is no modulus, else objects."""
    if len(primes) == 1:
        return residues[0]
    found = residues[0].astype(object)
    product = primes[0]
    for some, prime in zip(residues[1:], primes[1:], strict=True):
        inverse = pow(product, -1, prime)
        found = found + product * ((some.astype(object) - found) * inverse % prime)
        product *= prime
    return found
