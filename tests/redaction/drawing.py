"""Bodies of keys, drawn at run time: no string in the tests is a credential, whole or in part."""

import random
import string

LOWER_HEX = "0123456789abcdef"
LOWER = string.digits + string.ascii_lowercase
ALNUM = string.digits + string.ascii_letters
WORD = ALNUM + "_-"
dice = random.Random(20240)


def drawn(alphabet, length):
    """Draw a body with a digit in it: without one, 15 letters may be a word."""
    ends = "".join(c for c in alphabet if c.isalnum())
    while True:
        middle = "".join(dice.choice(alphabet) for _ in range(length - 2))
        if any(char.isdigit() for char in middle):
            return dice.choice(ends) + middle + dice.choice(ends)
