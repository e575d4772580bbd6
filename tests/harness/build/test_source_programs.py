# SPDX-License-Identifier: BSD-3-Clause
"""Programs of a workload built from a source package: recipes, edits, and a whole build of a source of one file."""

import subprocess
from pathlib import Path, PurePosixPath

import pytest
from refusals import refused

from harness.build import debian_source, source_programs
from harness.build.ext2 import Entry

_RECIPE = """
package = "hello"
version = "1.0"
commands = [["make", "-j{jobs}", "CC={cc}"]]
[files]
"usr/bin/hello" = "out/hello"
[[edits]]
file = "hello.c"
pattern = "^#define WORD .*$"
replacement = '#define WORD "edited"'
"""
_SOURCE = '#include <stdio.h>\n#define WORD "before"\nint main(void) { puts(WORD " " __FILE__ " " OURS); }\n'


def _workload(folder: Path, recipe: str = _RECIPE) -> Path:
    place = folder / "mine" / "from-source" / "hello"
    (place / "tree").mkdir(parents=True)
    (place / "recipe.toml").write_text(recipe)
    (place / "tree" / "Makefile").write_text(
        "out/hello: hello.c\n\tmkdir -p out\n\t$(CC) -DOURS='\"ours\"' -o $@ $(CURDIR)/hello.c\n"
    )
    return folder / "mine"


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stands for what the mirror has: a source of one file."""
    tree = tmp_path / "package" / "tree"
    tree.mkdir(parents=True)
    (tree / "hello.c").write_text(_SOURCE)
    (tree.parent / debian_source.VERSION_FILE).write_text("1.0-3\n")
    monkeypatch.setattr(debian_source, "source", lambda package, version: tree)
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))
    return tree


def test_a_program_is_built_with_our_files_and_edits(tmp_path: Path, source: Path) -> None:
    tree: dict[PurePosixPath, Entry] = {}
    assert source_programs.add(tree, _workload(tmp_path)) == ["hello 1.0-3 (built from its source)"]
    program = tree[PurePosixPath("usr/bin/hello")].content
    assert program is not None
    said = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    # The build folder's name is nowhere in it.
    assert said == "edited /source/hello-1.0/hello.c ours\n"
    assert (source / "hello.c").read_text() == _SOURCE


def test_a_recipe_names_what_is_built(tmp_path: Path) -> None:
    first = source_programs.key(_workload(tmp_path / "one"))
    assert first == source_programs.key(_workload(tmp_path / "two"))
    assert first != source_programs.key(_workload(tmp_path / "three", _RECIPE.replace("1.0", "1.1")))
    assert source_programs.key(tmp_path) == {}


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("#define WORD .*", "#define NOTHING", "is 0 times in hello.c of hello 1.0, and not once"),
        ("out/hello", "out/other", "the build did not make out/other"),
        ('"make"', '"false"', "exited with status 1"),
    ],
)
def test_a_build_that_is_not_what_the_recipe_says(tmp_path: Path, source: Path, old: str, new: str, sentence: str) -> None:
    folder = _workload(tmp_path, _RECIPE.replace(old, new, 1))
    refused(lambda: source_programs.add({}, folder), sentence)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ('version = "1.0"', "", "the key version is missing"),
        ("package", "paket", "paket is no key of a recipe"),
        ("{jobs}", "{cores}", "{cores} stands for nothing"),
        ("[files]", "[files", "cannot be read as TOML"),
        ('"out/hello"', "3", "are strings"),
        ("^#define", "(#define", "unterminated subpattern"),
        ("commands = [[", "commands = 3 #", "not iterable"),
    ],
)
def test_a_recipe_that_is_wrong(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    folder = _workload(tmp_path, _RECIPE.replace(old, new, 1))
    refused(lambda: source_programs.recipes(folder), sentence)
