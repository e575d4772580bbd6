# SPDX-License-Identifier: BSD-3-Clause
"""A third kernel source is one folder and one line in the settings: no code knows it, and every command does."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from common import paths, settings
from common.paths import REPOSITORY
from harness.build import host_packages, kernel_source
from harness.checks.verify import applications, bottleneck_table
from harness.cli import ablation, main
from harness.run.engines.gem5_checkpoint import guest_command_line
from harness.spec import kernel as kernels
from harness.spec import point as points

TOY = "toy-9.0"
_RECIPE = """
summary = "a kernel of ten lines"
version = "9.0"
[source]
kind = "kernel.org"
url = "http://127.0.0.1:9/toy-9.0.tar.xz"
checksums = "http://127.0.0.1:9/sha256sums.asc"
obtain = "Write it, and name it in the settings."
[boot]
root = "/dev/sda1"
words = "toy_word"
[boot.gem5]
words = "toy_gem5"
seconds = 3
[build]
compiler = "gcc"
compiler_flags = []
base = "allnoconfig"
fragment = "config"
targets = ["vmlinux", "bzImage"]
bzimage = "bzImage"
[build.tools]
toymake = "toy-tools"
[build.headers]
[options]
file = "Kconfig"
before = "# end"
"""
_FIX = 'name = "toy-fix"\nnumber = 1\nsummary = "a file more"\noption = "TOY_FIX"\n'
_TABLE = '[[row]]\nnumber = 2\nworkload = "micro:stat"\nlines = ["dentry.*"]\nverdict = "there"\nnote = "a toy"\n'
_MAKEFILE = """VERSION = 9
PATCHLEVEL = 0
SUBLEVEL = 1
allnoconfig:
	cp $(KCONFIG_ALLCONFIG) .config
	mkdir -p include/config
	echo 9.0.1 > include/config/kernel.release
vmlinux:
	cat *.c > vmlinux
bzImage:
	echo image > bzImage
	echo map > System.map
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The toy's source; its folder is beside those of the known sources, and the settings name it."""
    folder = tmp_path / "kernels"
    toy = folder / TOY
    files = {"kernel.toml": _RECIPE, "config": "CONFIG_TOY=y\n", "still-there.toml": _TABLE, "pk/01-toy-fix/fix.toml": _FIX}
    files["pk/01-toy-fix/files/fix.c"] = "int toy_fix;\n"
    source = tmp_path / "linux"
    files |= {str(source / "Makefile"): _MAKEFILE, str(source / "main.c"): "int toy;\n", str(source / "Kconfig"): "# end\n"}
    for name, text in files.items():
        (toy / name).parent.mkdir(parents=True, exist_ok=True)
        (toy / name).write_text(text)
    for known in paths.KERNELS.glob("*/kernel.toml"):
        (folder / known.parent.name).symlink_to(known.parent)
    own = tmp_path / "settings.toml"
    own.write_text(f'toy_9_0 = "{source}"\n')
    monkeypatch.setattr(paths, "KERNELS", folder)
    monkeypatch.setenv("MOSBENCH_SETTINGS", str(own))
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    (tmp_path / "toymake").write_text("#!/bin/sh\n")
    (tmp_path / "toymake").chmod(0o755)
    monkeypatch.setattr(host_packages, "require", lambda *names: None)
    return source


def test_settings_points_and_lists(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert settings.load().sources == {TOY: tree}
    assert TOY in kernel_source.available()
    assert kernels.default_source() != TOY
    made = points.resolve({"workload": "micro:stat", "kernel": f"{TOY}:pk", "engine": "gem5"})
    assert (made.source, made.fixes, made.kernel_text) == (TOY, ("toy-fix",), f"{TOY}:pk")
    assert " toy_word " in points.command_line(made) and " toy_gem5 " in guest_command_line(made)
    assert kernels.load_recipe(TOY).boot_with("gem5").seconds == 3
    for things in ("kernels", "fixes"):
        assert main.main(["list", things]) == 0
        output = capsys.readouterr().out
        assert TOY in output and "toy-fix" in output


def test_the_doctor_knows_it_and_what_builds_it(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main.main(["doctor"])
    output = capsys.readouterr().out
    assert f"{TOY} source" in output and "toy-tools" in output and f"builds {TOY}" in output
    assert "toy-tools" in host_packages.of_groups("kernel")


def test_it_is_built_with_its_fix_and_the_fix_is_a_patch(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main.main(["kernel", "build", f"{TOY}:toy-fix"]) == 0
    built = Path(capsys.readouterr().out.strip())
    assert (built / "config").read_text() == "CONFIG_TOY=y\nCONFIG_TOY_FIX=y\n"
    assert "toy_fix" in (built / "vmlinux").read_text()
    assert main.main(["kernel", "diff", TOY, "--fixes", "pk"]) == 0
    assert "+config TOY_FIX\n" in capsys.readouterr().out


def test_checks_and_ablation_take_it(tree: Path) -> None:
    assert ablation.fix_sets(TOY, None) == [f"{TOY}:stock", f"{TOY}:pk"]
    assert applications.select([f"{TOY}:pk", "exim"]) == (["exim"], [f"{TOY}:pk"], False)
    assert {TOY, f"{TOY}:pk"} <= set(applications.kernels())
    assert [row.number for row in bottleneck_table.tables(TOY)[TOY]] == [2]
    assert TOY in bottleneck_table.tables(None)


# ---- no code names a source


def names(root: Path) -> Iterator[str]:
    """Where code below ``root`` names a kernel source, its package or, in a string that it uses, its version."""
    recipes = [kernels.load_recipe(source) for source in kernels.sources()]
    for path in sorted(path for package in ("common", "analysis", "harness") for path in (root / package).rglob("*")):
        if path.suffix not in (".py", ".toml"):
            continue
        text = path.read_text(encoding="utf-8")
        used = list(_strings(text)) if path.suffix == ".py" else []
        for recipe in recipes:
            for word in filter(None, (recipe.name, settings.source_key(recipe.name), recipe.package)):
                if word in text:
                    yield f"{path.relative_to(root)} names {word}"
            version = re.compile(rf"(?<![\w.]){re.escape(recipe.version)}(?!\w)")
            yield from (f"{path.relative_to(root)} has the version in {one!r}" for one in used if version.search(one))


def _strings(text: str) -> Iterator[str]:
    """The strings of a module that are no statements of their own (as docstrings are)."""
    tree = ast.parse(text)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield node.value


def test_no_code_names_a_kernel_source() -> None:
    assert list(names(REPOSITORY)) == []


@pytest.mark.parametrize("text", ['X = "{name}"', "# {name}", '"""{name}"""', "{key} = 1", 'print("Linux {version} boots")'])
def test_a_name_is_found(text: str, tmp_path: Path) -> None:
    recipe = kernels.load_recipe(kernels.default_source())
    path = tmp_path / "harness/spec/low.py"
    path.parent.mkdir(parents=True)
    path.write_text(text.format(name=recipe.name, key=settings.source_key(recipe.name), version=recipe.version))
    assert any("harness/spec/low.py" in one for one in names(tmp_path))
