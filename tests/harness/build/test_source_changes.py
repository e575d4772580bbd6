# SPDX-License-Identifier: BSD-3-Clause
"""Pieces and fixes on toy trees: what each form changes, and what each way to fail says."""

import re
import shutil
from pathlib import Path

import pytest
from refusals import refused

from harness.build import source_changes
from harness.spec import fixes
from harness.spec import kernel as kernels

_SOURCE = """#include <linux/fs.h>

static int first(struct inode *inode)
{
	mutex_lock(&inode->i_mutex);
	inode->i_size = 1;
	mutex_unlock(&inode->i_mutex);
	return 0;
}

static int second(struct inode *inode)
{
	mutex_lock(&inode->i_mutex);
	return 1;
}
"""

_COCCI = """// no lock
@no_lock@
expression E;
@@
- mutex_lock(E);

@no_unlock depends on no_lock@
expression E;
@@
- mutex_unlock(E);
"""

_FIX = r"""
name = "lseek"
number = 14
summary = "lseek without the mutex"
option = "MOSBENCH_LSEEK"

[[rules]]
patch = "lseek.cocci"
file = "fs/seek.c"
hits = { no_lock = [2, 3], no_unlock = 1 }

[[inserts]]
file = "fs/Makefile"
after = 'obj-y \+= seek.o'
text = "obj-y += lseek.o"

[measure]
workload = "micro:lseek"
parameters = { iterations = 7 }
lines = ["inode.i_mutex"]
reduction = 10
"""

spatch = pytest.mark.skipif(shutil.which("spatch") is None, reason="no coccinelle")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def fix(tmp_path: Path) -> Path:
    folder = tmp_path / "pk/14-lseek"
    (folder / "files/include").mkdir(parents=True)
    (folder / "fix.toml").write_text(_FIX)
    (folder / "lseek.cocci").write_text(_COCCI)
    (folder / "files/include/lseek.h").write_text("/* new */\n")
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "linux"
    (folder / "fs").mkdir(parents=True)
    (folder / "fs/seek.c").write_text(_SOURCE)
    (folder / "fs/Makefile").write_text("obj-y += seek.o\n")
    (folder / "fs/Kconfig").write_bytes(b'# Ren\xe9\nsource "fs/ext2/Kconfig"\nsource "fs/ext3/Kconfig"\n')
    return folder


OPTIONS = fixes.Place("fs/Kconfig", re.compile('source "fs/ext2/Kconfig"'), after=True)


def _load(folder: Path) -> fixes.Piece:
    return fixes.load_fix(folder / "fix.toml", OPTIONS)


@spatch
def test_a_fix(fix: Path, tree: Path) -> None:
    piece = _load(fix)
    assert piece.touched == ("fs/seek.c", "fs/Makefile", "fs/Kconfig")
    assert piece.config == ("CONFIG_MOSBENCH_LSEEK=y",)
    assert piece.measure is not None and piece.measure.parameters == {"iterations": "7"}
    source_changes.apply(piece, tree)
    assert "mutex" not in (tree / "fs/seek.c").read_text()
    assert (tree / "include/lseek.h").is_file()
    assert (tree / "fs/Makefile").read_text() == "obj-y += seek.o\nobj-y += lseek.o\n"
    before, _, after = (tree / "fs/Kconfig").read_bytes().partition(source_changes.option_text(piece).encode())
    assert (before, after) == (b'# Ren\xe9\nsource "fs/ext2/Kconfig"\n', b'source "fs/ext3/Kconfig"\n')
    refused(lambda: source_changes.apply(piece, tree), "already has the fix lseek", "include/lseek.h")


@spatch
def test_a_remembered_result_is_the_same(fix: Path, tree: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    shutil.copytree(tree, again)
    source_changes.apply(_load(fix), tree)
    source_changes.apply(_load(fix), again)
    assert (tree / "fs/seek.c").read_text() == (again / "fs/seek.c").read_text()
    assert len(list((tmp_path / "cache/spatch").iterdir())) == 1


@spatch
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("no_lock = [2, 3]", "no_lock = 3", ("fix lseek", "rule no_lock of lseek.cocci", "2 places of fs/seek.c", "not 3")),
        ("no_lock = [2, 3], ", "", ("rule no_lock", "not 0")),
        ("no_unlock = 1", "no_unlock = [0, 2]", ("rule no_unlock", "1 places", "not 0 or 2")),
        ("fs/seek.c", "fs/look.c", ("fix lseek changes fs/look.c", "does not have")),
        ("after = 'obj-y", "after = 'obj-n", ("fix lseek", "fs/Makefile", "0 times")),
    ],
)
def test_a_fix_that_does_not_fit(fix: Path, tree: Path, tmp_path: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in _FIX
    (fix / "fix.toml").write_text(_FIX.replace(old, new))
    refused(lambda: source_changes.apply(_load(fix), tree), *words)


@spatch
def test_a_semantic_patch_that_does_not_parse(fix: Path, tree: Path) -> None:
    (fix / "lseek.cocci").write_text(_COCCI.replace("expression E;", "expression E"))
    refused(lambda: source_changes.apply(_load(fix), tree), "spatch refuses lseek.cocci on fs/seek.c")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('option = "MOSBENCH_LSEEK"', "", ("lacks the key option",)),
        ("no_unlock = 1", "no_luck = 1", ("lseek.cocci has no rule no_luck", "no_lock, no_unlock")),
        ('patch = "lseek.cocci"', 'patch = "gone.cocci"', ("gone.cocci", "not there")),
        ("[measure]", "[edits]", ("edits is not a key",)),
        ("after = ", "around = ", ("either after or before",)),
        ("after = 'obj", "after = '(obj", ("no regular expression",)),
        ("name = ", "name ", ("not valid TOML",)),
    ],
)
def test_broken_files(fix: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in _FIX
    (fix / "fix.toml").write_text(_FIX.replace(old, new))
    refused(lambda: _load(fix), *words)


_LIBRARY = """
name = "core-locks"
summary = "one spin lock per core"
option = "MOSBENCH_CORE_LOCKS"
"""


def test_the_option_of_a_fix_is_declared_from_what_is_said_of_it(fix: Path, tmp_path: Path) -> None:
    (fix / "files/include/lseek.h").unlink()
    more = 'depends = "64BIT && SMP"\nselects = ["SRCU"]\nneeds = ["core-locks"]\n'
    text = _FIX.replace("\n[[rules]]", f"{more}\n[[rules]]").replace("without the mutex", "no mutex" + " no mutex" * 9)
    (fix / "fix.toml").write_text(text)
    (tmp_path / "pk/lib-core-locks").mkdir()
    (tmp_path / "pk/lib-core-locks/fix.toml").write_text(_LIBRARY)
    library, piece = fixes.load_fixes(tmp_path / "pk", OPTIONS).values()
    assert source_changes.option_text(piece).splitlines() == [
        "",
        "config MOSBENCH_LSEEK",
        '\tbool "lseek (MOSBENCH fix 14)"',
        "\tdepends on 64BIT && SMP",
        "\tselect MOSBENCH_CORE_LOCKS",
        "\tselect SRCU",
        "\thelp",
        "\t  lseek no mutex no mutex no mutex no mutex no mutex no mutex no mutex",
        "\t  no mutex no mutex no mutex.",
        "",
        "\t  More: pk/14-lseek in mosbench-gem5's folder of this kernel.",
    ]
    # Without a number it is for the fixes that select it: nobody is asked.
    assert source_changes.option_text(library).startswith("\nconfig MOSBENCH_CORE_LOCKS\n\tbool\n\thelp\n\t  one spin lock")


def test_a_place_of_options_that_is_not_one_line(fix: Path, tree: Path) -> None:
    (fix / "fix.toml").write_text('name = "lseek"\nsummary = "s"\noption = "MOSBENCH_LSEEK"\n')
    (fix / "files/include/lseek.h").unlink()
    for pattern, count in (("sauce", 0), ("source .*", 2)):
        piece = fixes.load_fix(fix / "fix.toml", fixes.Place("fs/Kconfig", re.compile(pattern), after=False))
        refused(lambda piece=piece: source_changes.apply(piece, tree), "fix lseek", "fs/Kconfig", f"{count} times")


def test_a_tree_that_declares_the_option_has_the_fix(fix: Path, tree: Path) -> None:
    (fix / "files/include/lseek.h").unlink()
    (tree / "fs/Kconfig").write_text('source "fs/ext2/Kconfig"\n\nconfig MOSBENCH_LSEEK\n\tbool "other words"\n')
    refused(lambda: source_changes.apply(_load(fix), tree), "already has the fix lseek", "fs/Kconfig")


def test_the_rules_of_a_semantic_patch() -> None:
    text = "virtual debug\n@a@\nidentifier f;\nposition p;\n@@\nf@p(...)\n@ b depends on a @ expression E; @@\n- E\n@@@@\n- x\n"
    text += "@script:python c@\np << a.p;\n@@\nprint(p)\n@d extends a exists@\n@@\n+ y\n"
    preamble, rules = fixes.split_rules(text)
    assert preamble == "virtual debug\n"
    assert [name for name, _ in rules] == ["a", "b", "", "c", "d"]
    assert preamble + "".join(part for _, part in rules) == text


def _named(folder: Path, name: str, **keys: object) -> None:
    (folder / name).mkdir(parents=True)
    lines = {"name": name, "summary": name, "option": name.upper(), **keys}
    text = "".join(f"{key} = {value!r}\n" for key, value in lines.items())
    (folder / name / "fix.toml").write_text(text)


def test_the_order_of_fixes(tmp_path: Path) -> None:
    folder = tmp_path / "pk"
    _named(folder, "late", number=2, needs=["lib", "early"])
    _named(folder, "early", number=9, needs=["lib"])
    _named(folder, "other", number=4, conflicts=["late"])
    _named(folder, "lib")
    known = fixes.load_fixes(folder, OPTIONS)
    assert list(known) == ["lib", "late", "other", "early"]
    assert [one.name for one in fixes.choose(known, ["late"], "linux")] == ["lib", "early", "late"]
    refused(lambda: fixes.choose(known, ["late", "other"], "linux"), "other and late of linux exclude each other")
    refused(lambda: fixes.choose(known, ["pk"], "linux"), "exclude each other")
    refused(lambda: fixes.choose(known, ["lat"], "linux"), "no fix lat", "late, other, early")
    assert [one.name for one in fixes.choose(known, ["pk-late"], "linux")] == ["other", "lib", "early"]
    refused(lambda: fixes.choose(known, ["pk-early"], "linux"), "The fix late of linux needs early", "keep early")
    refused(lambda: fixes.choose(known, ["pk-late", "late"], "linux"), "exclude each other")  # late is there after all
    refused(lambda: fixes.choose(known, ["pk-lib"], "linux"), "no fix pk-lib")
    _named(folder, "a", needs=["b"])
    _named(folder, "b", needs=["a"])
    refused(lambda: fixes.choose(fixes.load_fixes(folder, OPTIONS), ["a"], "linux"), "circle")
    _named(folder, "c", needs=["nothing"])
    refused(lambda: fixes.load_fixes(folder, OPTIONS), "names nothing, which is no fix")


_PIECE = """
name = "old-make"
summary = "an edit"
[[edits]]
file = "fs/seek.c"
pattern = '^(\\s*)return (\\d);$'
replacement = '\\1return 4\\2;'
count = 2
already = 'return 4\\d;'
"""


def test_an_edit_and_a_tree_that_has_it(tree: Path, tmp_path: Path) -> None:
    folder = tmp_path / "compat"
    folder.mkdir()
    (folder / "piece.toml").write_text(_PIECE)
    piece = fixes.load_piece(folder / "piece.toml")
    source_changes.apply(piece, tree)
    changed = (tree / "fs/seek.c").read_text()
    assert "return 40;" in changed and "return 41;" in changed
    source_changes.apply(piece, tree)
    assert (tree / "fs/seek.c").read_text() == changed
    (tree / "fs/seek.c").write_text(_SOURCE.replace("return 1;", "return 41;"))
    refused(lambda: source_changes.apply(piece, tree), "piece old-make", "fs/seek.c", "1 times and not 2")


@spatch
def test_the_difference_is_a_patch(fix: Path, tree: Path, tmp_path: Path) -> None:
    piece = _load(fix)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        source_changes.partial_tree(tree, [piece], tmp_path / name)
    source_changes.apply(piece, tmp_path / "b")
    text = source_changes.difference(tmp_path / "a", tmp_path / "b")
    assert "--- a/fs/seek.c\n+++ b/fs/seek.c\n" in text
    assert text.count("-\tmutex_lock(&inode->i_mutex);\n") == 2
    assert "+++ b/include/lseek.h\n" in text


_LATER = " {\n\t\t\t/* busy */\n\t\t\tif (lock->owner)\n\t\t\t\treturn 0;\n\t\t\tbreak;\n\t\t}"


@pytest.mark.parametrize("body", [_LATER, "\n\t\t\tbreak;"])
def test_the_mutex_of_the_papers_kernel(body: str, tmp_path: Path) -> None:
    """Of a later 2.6.35.y, whose spinners go to sleep where the owner changes, and of 2.6.35 itself."""
    piece = next(piece for piece in kernels.load_recipe("linux-2.6.35").pieces if piece.name == "mutex-spin")
    (tmp_path / "kernel").mkdir()
    file = tmp_path / "kernel" / "sched.c"
    file.write_text(f"\tfor (;;) {{\n\t\tif (lock->owner != owner){body}\n\t\tcpu_relax();\n\t}}\n", encoding="utf-8")
    source_changes.apply(piece, tmp_path)
    changed = " ".join(file.read_text(encoding="utf-8").split())
    assert changed == "for (;;) { if (lock->owner != owner) break; cpu_relax(); }"
