# SPDX-License-Identifier: BSD-3-Clause
"""Recipes, fixes, configuration checks, and whole builds of a kernel tree small enough to build in a second."""

import os
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from refusals import refused

from common import paths
from common.outcome import Failure, Outcome
from common.settings import Settings
from harness.build import build_place, kernel, kernel_configuration, kernel_source
from harness.cli import ablation
from harness.spec import kernel as recipes

_RECIPE = """
summary = "a tree for tests"
version = "2.6.35"
default = true
pieces = ["compat/new", "compat/edit"]
[source]
kind = "kernel.org"
url = "http://127.0.0.1:9/linux-2.6.35.tar.xz"
checksums = "http://127.0.0.1:9/sha256sums.asc"
obtain = "Fetch linux-2.6.35.tar.gz from kernel.org and name it."
[boot]
root = "/dev/sda1"
words = "slub_nomerge"
[build]
compiler = "gcc"
compiler_flags = ["-DFROM_WRAPPER=7"]
base = "allnoconfig"
fragment = "config"
targets = ["vmlinux", "bzImage"]
bzimage = "boot/bzImage"
[build.tools]
gcc = "gcc"
[build.headers]
"stdio.h" = "libc6-dev"
[options]
file = "Kconfig"
after = "# fixes"
"""

_PIECES = {
    "compat/new/piece.toml": 'name = "new-file"\nsummary = "a file that the tree lacks"\n',
    "compat/new/files/new.c": "int new;\n",
    "compat/edit/piece.toml": """
name = "old-make"
summary = "an edit"
[[edits]]
file = "word.txt"
pattern = "^before$"
replacement = "after"
count = 1
""",
    "pk/14-lseek/fix.toml": 'name = "lseek"\nnumber = 14\nsummary = "lseek without the mutex"\noption = "LSEEK"\n',
    "pk/14-lseek/files/lseek.c": "int lseek_fix;\n",
    "pk/13-dcache/fix.toml": 'name = "dcache"\nnumber = 13\nsummary = "per-core lists"\noption = "DCACHE"\nneeds = ["lists"]\n',
    "pk/lib-lists/fix.toml": 'name = "lists"\nsummary = "lists"\noption = "LISTS"\n',
}

# allnoconfig takes over only known settings, as the real one does; vmlinux records what it was built with.
_MAKEFILE = """VERSION = 2
PATCHLEVEL = 6
SUBLEVEL = 35
EXTRAVERSION = .6
NAME = Test

allnoconfig:
	grep -E '^CONFIG_(SMP|LSEEK|DCACHE|LISTS|DEBUG)=' $(KCONFIG_ALLCONFIG) > .config || true
	mkdir -p include/config boot
	echo 2.6.35.6 > include/config/kernel.release
vmlinux:
	test -f new.c
	printf 'int wrapper = FROM_WRAPPER; const char *file = __FILE__, *time = "$(KBUILD_BUILD_TIMESTAMP)";' > $(CURDIR)/a.c
	$(CC) -c -g $(CURDIR)/a.c -o vmlinux
bzImage: vmlinux
	cat word.txt > boot/bzImage
	echo map > System.map
	exit $(BROKEN)
"""


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of recipes with the one recipe `tiny`, as the harness's own, and a cache of the test's own."""
    folder = tmp_path / "kernels"
    for name, text in _PIECES.items():
        (folder / "tiny" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "tiny" / name).write_text(text)
    (folder / "tiny/kernel.toml").write_text(_RECIPE)
    (folder / "tiny/config").write_text("CONFIG_SMP=y\n# CONFIG_AUDIT is not set\n")
    monkeypatch.setattr(paths, "KERNELS", folder)
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("MOSBENCH_SETTINGS", str(tmp_path / "settings.toml"))  # the user's names sources that are not here
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "linux"
    folder.mkdir()
    (folder / "Makefile").write_text(_MAKEFILE.replace("$(BROKEN)", "0"))
    (folder / "word.txt").write_text("before\n")
    (folder / "Kconfig").write_text("# fixes\n")
    return folder


def test_known_sources_have_valid_recipes() -> None:
    assert "linux-6.1" in recipes.sources()
    for source in recipes.sources():
        recipe = recipes.load_recipe(source)
        assert recipe.fragment.is_file()
        assert "vmlinux" in recipe.targets


def test_unknown_source_lists_the_known_ones() -> None:
    refused(lambda: recipes.load_recipe("linux-9"), "linux-9", "linux-6.1")


def test_fixes(kernels: Path) -> None:
    recipe = recipes.load_recipe("tiny")
    assert recipes.chosen_fixes(recipe, ()) == recipes.chosen_fixes(recipe, ("stock",)) == ()
    # Libraries first, then by number, whatever order they are asked for in.
    assert [piece.name for piece in recipes.chosen_fixes(recipe, ("lseek", "dcache"))] == ["lists", "dcache", "lseek"]
    assert [piece.name for piece in recipes.chosen_fixes(recipe, ("lseek",))] == ["lseek"]
    assert recipes.chosen_fixes(recipe, ("pk",)) == recipes.chosen_fixes(recipe, ("lseek", "dcache"))
    refused(lambda: recipes.chosen_fixes(recipe, ("seek",)), "no fix seek", "dcache, lseek")
    refused(lambda: recipes.chosen_fixes(recipe, ("stock", "lseek")), "exclude each other")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('kind = "kernel.org"', 'kind = "git"', ("source.kind", "debian-package or kernel.org")),
        ('obtain = "Fetch', 'get = "Fetch', ("lacks the key obtain",)),
        ("default = true", 'drivers = ["wings"]', ("drivers has wings, which is no part of a machine",)),
        ('"compat/edit"', '"compat/gone"', ("compat/gone/piece.toml", "not there")),
        ("[options]", "[places]", ("lacks the key options",)),
        ('after = "#', 'behind = "#', ("either after or before",)),
        ("[build]", "[build", ("not valid TOML",)),
    ],
)
def test_broken_recipes(kernels: Path, old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in _RECIPE
    (kernels / "tiny/kernel.toml").write_text(_RECIPE.replace(old, new))
    refused(lambda: recipes.load_recipe("tiny"), *words)


def test_the_default_source_is_exactly_one(kernels: Path) -> None:
    assert recipes.default_source() == recipes.paper_source() == recipes.source_named("default") == "tiny"
    other = kernels / "other/kernel.toml"
    other.parent.mkdir()
    other.write_text(_RECIPE)
    refused(recipes.default_source, "2 kernel sources with default = true: other, tiny")

    other.write_text("paper = true")
    assert (recipes.default_source(), recipes.paper_source()) == ("tiny", "other")
    other.write_text("default = false")
    (kernels / "tiny/kernel.toml").unlink()
    refused(recipes.default_source, "0 kernel sources", "none")


def test_lost_settings() -> None:
    fragment = 'CONFIG_A=y\n# CONFIG_B is not set\n# CONFIG_C is not set\nCONFIG_D="x"\n# a comment about CONFIG_E\n'
    assert kernel_configuration.lost_settings(fragment, 'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_D="x"\n') == []
    lines = ["CONFIG_A y", "# CONFIG_B is not set"]
    assert kernel_configuration.settings(f"# words\n{lines[0]}\n\n{lines[1]}\n") == lines
    assert kernel_configuration.lost_settings("CONFIG_A y", "CONFIG_A=y") == ["CONFIG_A y"]
    assert kernel_configuration.lost_settings(fragment, 'CONFIG_A=m\nCONFIG_C=y\nCONFIG_D="x"\n') == [
        "CONFIG_A=y",
        "CONFIG_C is not set",
    ]


def test_build_from_a_folder(kernels: Path, tree: Path) -> None:
    built = kernel.build("tiny", (), tree)
    assert built.release == "2.6.35.6"
    assert built.bzimage.read_text() == "after\n"
    assert (built.folder / "config").read_text() == "CONFIG_SMP=y\n"
    assert b"/linux\0" in built.vmlinux.read_bytes()
    assert str(built.folder.parent).encode() not in built.vmlinux.read_bytes()
    assert not (built.folder / "tree").exists()
    assert (tree / "word.txt").read_text() == "before\n", "the user's tree is never written to"
    assert kernel.build("tiny", ("stock",), tree) == built


def test_build_from_a_tarball_with_a_fix(kernels: Path, tree: Path, tmp_path: Path) -> None:
    tarball = tmp_path / "linux.tar.xz"
    with tarfile.open(tarball, "w:xz") as tar:
        tar.add(tree, "linux-2.6.35.6")
    stock = kernel.build("tiny", (), tarball)
    fixed = kernel.build("tiny", ("lseek",), tarball)
    assert stock.folder != fixed.folder
    assert (fixed.folder / "config").read_text() == "CONFIG_SMP=y\nCONFIG_LSEEK=y\n"


def test_kernels_share_the_objects_on_which_an_option_has_no_effect(kernels: Path, tree: Path, tmp_path: Path) -> None:
    compiling = "$(CC) -c -g $(CURDIR)/a.c -o vmlinux"
    with_options = (
        "sed -n 's/^CONFIG_\\(.*\\)=y/#define CONFIG_\\1/p' .config > options.h\n"
        "\tmkdir -p arch/x86/include && echo 'static const char *header = __FILE__;' > arch/x86/include/header.h\n"
        "\t$(CC) -c -g -Wp,-MD,a.d -I$(CURDIR)/arch/x86/include -include options.h -include header.h a.c -o vmlinux"
    )
    makefile = (tree / "Makefile").read_text()
    assert compiling in makefile
    (tree / "Makefile").write_text(makefile.replace(compiling, with_options))
    stock, fixed = kernel.build("tiny", (), tree), kernel.build("tiny", ("lseek",), tree)
    assert stock.vmlinux.read_bytes() == fixed.vmlinux.read_bytes()
    assert b"/linux/arch/x86/include/header.h\0" in stock.vmlinux.read_bytes()
    environment = {**os.environ, "CCACHE_DIR": str(tmp_path / "cache" / "ccache")}
    said = subprocess.run(["ccache", "--print-stats"], env=environment, capture_output=True, text=True, check=True).stdout
    counts = dict(line.split() for line in said.splitlines())
    assert (counts["cache_miss"], counts["preprocessed_cache_hit"]) == ("1", "1")


def test_a_changed_fix_rebuilds_its_own_kernels_only(kernels: Path, tree: Path) -> None:
    stock, lseek, dcache = (kernel.build("tiny", fixes, tree).folder for fixes in ((), ("lseek",), ("dcache",)))
    (kernels / "tiny/pk/14-lseek/files/lseek.c").write_text("int another;\n")
    (kernels / "tiny/pk/13-dcache/README.md").write_text("words\n")
    description = kernels / "tiny/pk/13-dcache/fix.toml"
    description.write_text(description.read_text() + '[measure]\nworkload = "micro:stat"\n')
    assert kernel.build("tiny", (), tree).folder == stock
    assert kernel.build("tiny", ("dcache",), tree).folder == dcache
    assert kernel.build("tiny", ("lseek",), tree).folder != lseek


@pytest.mark.parametrize(
    ("file", "old", "new", "again"),
    [
        ("kernel.toml", 'summary = "a tree for tests"', 'summary = "words" # more words', False),
        ("kernel.toml", 'words = "slub_nomerge"', 'words = "quiet"', False),
        ("kernel.toml", "-DFROM_WRAPPER=7", "-DFROM_WRAPPER=8", True),
        ("config", "CONFIG_SMP=y\n", "# why\n\nCONFIG_SMP=y\n", False),
        ("config", "# CONFIG_AUDIT is not set\n", "", True),
        ("compat/edit/piece.toml", 'summary = "an edit"', 'summary = "words"', False),
        ("compat/edit/piece.toml", 'replacement = "after"', 'replacement = "afterwards"', True),
        ("pk/14-lseek/fix.toml", 'summary = "lseek without the mutex"', 'summary = "words"', False),
        ("pk/14-lseek/fix.toml", 'option = "LSEEK"', 'option = "LSEEK"\ndepends = "SMP"', True),
        ("pk/14-lseek/files/lseek.c", "int", "long", True),
    ],
)
def test_what_a_kernel_is_built_again_for(kernels: Path, tree: Path, file: str, old: str, new: str, again: bool) -> None:
    before = kernel.build("tiny", ("lseek",), tree)
    path = kernels / "tiny" / file
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))
    assert (kernel.build("tiny", ("lseek",), tree).folder != before.folder) == again


def test_more_configuration(kernels: Path, tree: Path) -> None:
    built = kernel.build("tiny", (), tree, extra_config=("CONFIG_DEBUG=y", "# CONFIG_SMP is not set"))
    assert (built.folder / "config").read_text() == "CONFIG_DEBUG=y\n"
    assert built.folder != kernel.build("tiny", (), tree).folder


def test_a_compiler_that_is_too_new(kernels: Path, tree: Path, tmp_path: Path) -> None:
    text = _RECIPE.replace('compiler = "gcc"', 'compiler = "gcc"\ncompiler_versions = ["4"]')
    (kernels / "tiny/kernel.toml").write_text(text)
    refused(lambda: kernel.build("tiny", (), tree), "is built with gcc 4; this one is", "gcc-4")
    assert not (tmp_path / "cache/kernels").exists()


def test_same_inputs_in_another_cache_give_the_same_bytes(
    kernels: Path, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = kernel.build("tiny", (), tree)
    monkeypatch.setenv("MOSBENCH_CACHE", str(tmp_path / "elsewhere/and/deeper"))
    second = kernel.build("tiny", (), tree)
    assert first.folder != second.folder
    assert first.digest == second.digest


def test_where_a_kernel_is_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(build_place, "_IN_MEMORY", memory)
    monkeypatch.setattr(build_place, "_free_memory", lambda: 16 << 30)
    with build_place.build_place(tmp_path) as place:
        assert place.parent == memory
    assert not place.exists()
    monkeypatch.setattr(build_place, "_free_memory", lambda: 2 << 30)
    with build_place.build_place(tmp_path) as place:
        assert place == tmp_path
    monkeypatch.undo()
    monkeypatch.setattr(build_place, "_IN_MEMORY", tmp_path / "absent")
    assert build_place._free_memory() == 0


def test_memory_that_a_killed_build_left_is_freed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_place, "_IN_MEMORY", tmp_path)
    monkeypatch.setattr(build_place, "_free_memory", lambda: 16 << 30)
    abandoned = tmp_path / "mosbench-kernel-killed"
    (abandoned / "tree").mkdir(parents=True)
    with build_place.build_place(tmp_path) as first:
        assert not abandoned.exists()
        with build_place.build_place(tmp_path) as second:
            assert first.exists() and second.exists() and first != second


def test_no_tree_says_how_to_get_one(kernels: Path, tmp_path: Path) -> None:
    refused(lambda: kernel.build("tiny"), "No source of tiny", "cannot be fetched", "linux-2.6.35.tar.gz")
    refused(lambda: kernel.build("tiny", (), tmp_path / "nowhere"), "is not there", "linux-2.6.35.tar.gz")


def test_another_version_isrefused(kernels: Path, tree: Path) -> None:
    (tree / "Makefile").write_text(_MAKEFILE.replace("SUBLEVEL = 35", "SUBLEVEL = 36"))
    refused(lambda: kernel.build("tiny", (), tree), "2.6.36.6", "not 2.6.35")
    (tree / "Makefile").unlink()
    refused(lambda: kernel.build("tiny", (), tree), "no Makefile")


def test_a_piece_that_does_not_apply_is_named(kernels: Path, tree: Path, tmp_path: Path) -> None:
    (tree / "word.txt").write_text("something else\n")
    refused(lambda: kernel.build("tiny", (), tree), "piece old-make", "word.txt", "0 times")
    assert not [path for path in (tmp_path / "cache/kernels").iterdir() if path.is_dir()], "nothing half-built is left"


def test_a_setting_that_is_lost_is_named(kernels: Path, tree: Path) -> None:
    (kernels / "tiny/config").write_text("CONFIG_SMP=y\nCONFIG_GONE=y\n")
    refused(lambda: kernel.build("tiny", (), tree), "CONFIG_GONE=y")


def test_a_failing_build_keeps_its_log(kernels: Path, tree: Path, tmp_path: Path) -> None:
    (tree / "Makefile").write_text(_MAKEFILE.replace("$(BROKEN)", "3"))
    with pytest.raises(Failure) as caught:
        kernel.build("tiny", (), tree)
    log = next((tmp_path / "cache/kernels").glob("failed-*.log"))
    assert str(log) in caught.value.cure
    assert "exit 3" in log.read_text()


def test_a_full_disk_is_its_own_outcome(kernels: Path, tree: Path) -> None:
    (tree / "Makefile").write_text(_MAKEFILE.replace("$(BROKEN)", "`echo 'cc1: No space left on device' >&2; echo 1`"))
    with pytest.raises(Failure) as caught:
        kernel.build("tiny", (), tree)
    assert caught.value.outcome is Outcome.DISK_FULL


def test_missing_tools_are_one_sentence_with_packages(kernels: Path, tree: Path) -> None:
    text = _RECIPE.replace('gcc = "gcc"', 'gcc = "gcc"\nno-such-flex = "flex"').replace('"stdio.h"', '"no/such.h"')
    (kernels / "tiny/kernel.toml").write_text(text)
    refused(lambda: kernel.build("tiny", (), tree), "flex, libc6-dev", "apt-get install flex libc6-dev")


def test_a_tarball_that_is_not_the_package_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tarball = Path("/usr/src/linux-source-6.1.tar.xz")
    if not tarball.is_file():
        pytest.skip("linux-source-6.1 is not installed")
    known = Path("/var/lib/dpkg/info/linux-source-6.1.md5sums").read_text()
    assert "usr/src/linux-source-6.1.tar.xz" in known
    changed = tmp_path / "known"
    changed.write_text("0" * 32 + "  usr/src/linux-source-6.1.tar.xz\n")
    monkeypatch.setattr(kernel_source, "_checksums", lambda package: changed)
    wrong = lambda: kernel_source._verify_package_file("linux-source-6.1", tarball)  # noqa: E731
    refused(wrong, "not the file", "--reinstall linux-source-6.1")


def test_no_package_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_source, "installed_version", lambda package: None)
    refused(lambda: kernel.build("linux-6.1"), "apt-get install linux-source-6.1")


def test_a_broken_tarball(kernels: Path, tmp_path: Path) -> None:
    if shutil.which("tar") is None:
        pytest.skip("no tar")
    broken = tmp_path / "linux.tar.xz"
    broken.write_bytes(b"not a tarball")
    refused(lambda: kernel.build("tiny", (), broken), "linux.tar.xz", "no readable tarball")


def test_a_chain_of_fixes_goes_from_stock_to_all(kernels: Path) -> None:
    assert ablation.fix_sets("tiny", None) == ["tiny:stock", "tiny:dcache", "tiny:pk"]
    assert ablation.fix_sets("tiny", ["lseek"]) == ["tiny:stock", "tiny:lseek", "tiny:pk"]
    refused(lambda: ablation.fix_sets("tiny", ["lsek"]), "no fix lsek")
    shutil.rmtree(kernels / "tiny/pk")
    refused(lambda: ablation.fix_sets("tiny", None), "tiny has no fixes")


def test_whether_a_kernel_is_built(kernels: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.settings.load", lambda: Settings(sources={"tiny": tree}))
    assert not kernel.is_built("tiny", ())
    kernel.build("tiny")
    assert kernel.is_built("tiny", ())
    assert not kernel.is_built("tiny", ("lseek",))
