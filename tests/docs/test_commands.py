# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the pages show: each is one that there is, and those of README and guides are run as they stand."""

import argparse
import importlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from page_commands import NOT_RUN, SECONDS, commands, pages, settings_in, source_of

from common.paths import REPOSITORY, cache_root
from harness.checks import registry
from harness.cli import which
from harness.cli.main import COMMANDS
from harness.cli.workload import write
from harness.spec import point

RUN_AS_THEY_STAND = ("README.md", "docs/guides/*.md", "docs/reference/points-and-sweeps.md")
"""And the tutorial, whose commands test_tutorial_in_a_terminal.py runs."""
ALL = [(page, command) for page in pages("*.md", "docs/**/*.md", "*/README.md", "*/*/README.md") for command in commands(page)]
IN_BLOCKS = [(page, command) for page, command in ALL if "results" not in page.parts]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home folder with the workload that docs/guides/own-workload.md writes."""
    folder = tmp_path_factory.mktemp("home")
    write(folder / "mine")
    return folder


@pytest.mark.parametrize(
    ("page", "command"), IN_BLOCKS, ids=[f"{page.relative_to(REPOSITORY)}: {command}" for page, command in IN_BLOCKS]
)
def test_the_command_means_something(page: Path, command: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del page
    monkeypatch.setenv("HOME", str(home))
    name, *words = shlex.split(command)[1:]
    assert name in COMMANDS
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(prog=f"run.py {name}")
    module.configure(parser)
    given = parser.parse_args(words)
    if name in ("lab", "ablation", "run", "sweep"):
        assert module.select(given)
    elif name == "agree":
        assert which.read(given.point)
    elif name == "kernel":
        assert point.parse_kernel(f"{given.kernel}:{given.fixes}" if given.fixes else given.kernel)
    elif name in ("verify", "bench") and given.name is not None:
        assert given.name in registry.find(importlib.import_module(f"harness.checks.{name}"))


def test_checks_that_pages_name_are_there() -> None:
    known = {kind: registry.find(importlib.import_module(f"harness.checks.{kind}")) for kind in ("verify", "bench")}
    current = pages("README.md", "CONTRIBUTING.md", "docs/*.md", "docs/reference/*.md", "docs/guides/*.md", "*/README.md")
    for page in [*current, *pages("*/*/README.md")]:
        for kind, name in re.findall(r"`(?:\./run\.py )?(verify|bench) ([a-z0-9][a-z0-9.-]*)", page.read_text(encoding="utf-8")):
            assert name in known[kind], f"{page.relative_to(REPOSITORY)} names {kind} {name}"


def test_links_of_pages_lead_somewhere() -> None:
    for page in pages("*.md", "docs/**/*.md", "*/README.md", "*/*/README.md"):
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.relative_to(REPOSITORY)} links to {target}"


@pytest.fixture(scope="session")
def own_settings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return settings_in(tmp_path_factory.mktemp("pages"))


def run_all(wanted: Sequence[str], own: Path) -> None:
    home = own.parent / "home"  # one of the test's own: guides write there
    home.mkdir(exist_ok=True)
    environment = {
        **os.environ, "MOSBENCH_SETTINGS": str(own), "MOSBENCH_CACHE": str(cache_root()), "HOME": str(home), "COLUMNS": "120",
    }  # fmt: skip
    for command in wanted:
        words = [str(home) + word[1:] if word.startswith("~/") else word for word in shlex.split(command)]  # as a shell does
        done = subprocess.run(
            words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, timeout=SECONDS, stdin=subprocess.DEVNULL
        )
        assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def pages_to_run() -> Iterator[object]:
    for page in pages(*RUN_AS_THEY_STAND):
        layers = dict.fromkeys(source_of(command) for command in commands(page) if command not in NOT_RUN)
        for layer in layers:
            marks = [getattr(pytest.mark, layer or "guest")]
            yield pytest.param(page, layer, marks=marks, id=f"{page.stem}{f'-{layer}' if layer else ''}")


@pytest.mark.parametrize(("page", "layer"), list(pages_to_run()))
def test_the_commands_of_a_page_do_what_it_says(page: Path, layer: str | None, own_settings: Path) -> None:
    run_all([one for one in commands(page) if one not in NOT_RUN and source_of(one) == layer], own_settings)
