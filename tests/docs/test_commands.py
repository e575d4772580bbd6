# SPDX-License-Identifier: BSD-3-Clause
"""The commands that the pages show: each is one that there is, and those of README, tutorial and guides are run as they stand."""

import argparse
import importlib
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from common import settings
from common.paths import REPOSITORY
from harness.checks import registry
from harness.cli.main import COMMANDS
from harness.cli.test import SOURCES
from harness.spec import point, sweep

RUN_AS_THEY_STAND = ("README.md", "docs/tutorial.md", "docs/guides/*.md", "docs/reference/points-and-sweeps.md")
NOT_RUN = {"./run.py test", "./run.py test --layer static --layer unit"}
"""This is a test: it cannot run itself."""
SECONDS = 1800


def pages(*patterns: str) -> list[Path]:
    return [path for pattern in patterns for path in sorted(REPOSITORY.glob(pattern))]


def commands(page: Path) -> Iterator[str]:
    """The lines of the page's code blocks that call run.py, a line that ends with a backslash with the next one."""
    for block in re.findall(r"^```\w*\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in re.sub(r"\\\n\s*", "", block).splitlines():
            if line.strip().startswith("./run.py"):
                yield re.sub(r"\s+#.*", "", line.strip())


def source_of(command: str) -> str | None:
    """The layer of the tests whose kernel source the command names; None if it names none that the user brings."""
    return next((layer for layer, source in SOURCES.items() if source in command), None)


ALL = [(page, command) for page in pages("*.md", "docs/**/*.md", "*/README.md", "*/*/README.md") for command in commands(page)]
IN_BLOCKS = [(page, command) for page, command in ALL if "results" not in page.parts]


@pytest.mark.parametrize(
    ("page", "command"), IN_BLOCKS, ids=[f"{page.relative_to(REPOSITORY)}: {command}" for page, command in IN_BLOCKS]
)
def test_the_command_means_something(page: Path, command: str) -> None:
    del page
    name, *words = shlex.split(command)[1:]
    assert name in COMMANDS
    module = importlib.import_module(COMMANDS[name][0])
    parser = argparse.ArgumentParser(prog=f"run.py {name}")
    module.configure(parser)
    given = parser.parse_args(words)
    if name in ("lab", "ablation"):
        assert module.select(given)
    elif name in ("run", "sweep", "agree"):
        text = given.sweep if name == "sweep" else given.point
        assert [point.resolve(one) for one in sweep.parse(text).settings]
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
    """The user's settings with folders of the test's own for runs and reports."""
    folder = tmp_path_factory.mktemp("pages")
    lines = [f'runs = "{folder / "runs"}"', f'reports = "{folder / "reports"}"']
    lines += [f'{settings.source_key(name)} = "{path}"' for name, path in settings.load().sources.items()]
    file = folder / "settings.toml"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def run_all(wanted: Sequence[str], own: Path) -> None:
    environment = {**os.environ, "MOSBENCH_SETTINGS": str(own), "COLUMNS": "120"}
    for command in wanted:
        words = shlex.split(command)
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
