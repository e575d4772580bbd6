# SPDX-License-Identifier: BSD-3-Clause
"""Keys of the cache: what changes the hash of code, and what does not."""

from pathlib import Path

import pytest

from common import cache, locks

_CODE = '''"""A module."""
FLAGS = ("-O2", "-g")
"""How it is built."""


class Made:
    """What comes out."""


def build(flags: tuple[str, ...]) -> str:
    """Build it."""
    return " ".join(flags)
'''


def _hash(folder: Path, text: str) -> str:
    path = folder / "module.py"
    path.write_text(text)
    return cache.hash_code(path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A module.", "Another sentence."),
        ("How it is built.", "Flags."),
        ('    """Build it."""\n', "    # Build it.\n"),
        ('    """What comes out."""', "    pass"),
        ('("-O2", "-g")', '(\n    "-O2",  # fast\n    "-g",\n)'),
    ],
)
def test_words_about_code_do_not_change_its_hash(old: str, new: str, tmp_path: Path) -> None:
    assert old in _CODE
    assert _hash(tmp_path, _CODE.replace(old, new)) == _hash(tmp_path, _CODE)


@pytest.mark.parametrize(
    ("old", "new"), [('"-O2"', '"-O3"'), ("Made", "Other"), ("return ", 'return "" or '), ('" ".join', '"  ".join')]
)
def test_what_code_does_changes_its_hash(old: str, new: str, tmp_path: Path) -> None:
    assert old in _CODE
    assert _hash(tmp_path, _CODE.replace(old, new)) != _hash(tmp_path, _CODE)


def test_modules_and_files_are_the_same() -> None:
    files = [Path(str(module.__file__)) for module in (cache, locks)]
    assert cache.hash_code(cache, locks) == cache.hash_code(*files) != cache.hash_code(locks, cache)
