# SPDX-License-Identifier: BSD-3-Clause
"""Which point and which run the user means: a folder of a run is taken wherever a point is, and the other way round."""

import argparse
import os
from pathlib import Path

from analysis.attribute.tables import is_of_this_format
from analysis.report.runs import Run
from analysis.report.series import load_runs
from common import settings
from common.outcome import bad_input
from harness.cli import options
from harness.run import catalogue, run_directory
from harness.spec import point as points
from harness.spec import sweep
from harness.spec.point import Point

WORDS = 'settings such as "workload=micro:open-close * cores=48", a run directory, or a point.toml'
"""What `read` takes, for the help of a command."""


def add_run_argument(parser: argparse.ArgumentParser, name: str) -> None:
    """A run, as `run_of` takes it."""
    parser.add_argument(name, metavar=name.upper(), help=f"a run directory, or the point of a run there is: {WORDS}")


def add_output_option(parser: argparse.ArgumentParser) -> None:
    """--output: where runs of points are looked for."""
    parser.add_argument(
        "--output", type=Path, default=settings.load().runs, metavar="FOLDER", help="folder of the runs (%(default)s)"
    )


def read(text: str, engine: str = "") -> Point:
    """The one point that ``text`` means, on ``engine`` if one is given.

    Raises:
        Failure: bad-input, also when it means several, and where a file's is none that can be run (`points.check`).
    """
    if (path := file_of(text)) is not None:
        point = points.read(path / "point.toml" if os.path.isdir(path) else path)
        points.check(point)
        return points.with_engine(point, engine) if engine else point
    space = sweep.parse(text)
    options.say_notes(space)
    if len(space.settings) != 1:
        raise bad_input(f"{text!r} means {len(space.settings)} points.", "`run.py sweep` runs several.")
    return points.resolve({**space.settings[0], **({"engine": engine} if engine else {})})


def run_of(text: str, root: Path) -> Path:
    """The complete run that ``text`` means: a folder, or the run in ``root`` of the point that `read` says.

    Raises:
        Failure: bad-input, where there is none, or it is not complete.
    """
    path = file_of(text)
    if path is None:
        folder = root / read(text).id
    else:
        folder = path if os.path.isdir(path) else root / points.read(path).id
    if not folder.is_dir():
        raise bad_input(f"There is no run of {text} in {root}.", "`run.py run` makes it.")
    if (wrong := run_directory.fault(folder)) is not None:
        raise bad_input(f"{folder} is not a complete run: {wrong}.", "Run its point again, or name another run.")
    return folder


def two_runs(a: str, b: str, root: Path) -> tuple[Run, Run]:
    """The two runs that ``a`` and ``b`` mean, as `run_of` takes them, with all trials that there are of them.

    Raises:
        Failure: bad-input, also where both are one run.
    """
    one, other = (_with_trials(run_of(text, root)) for text in (a, b))
    if one.folder.resolve() == other.folder.resolve():
        raise bad_input(f"A and B are one run, {one.folder}.", "Name two.")
    return one, other


def _with_trials(folder: Path) -> Run:
    """The run in ``folder``, which knows of the other trials of its point that are beside it, of the same builds."""
    wanted, root = Run(folder), folder.resolve().parent
    workload, cores = wanted.workload, wanted.cores
    beside = [root / row.name for row in catalogue.verified(root) if (row.workload, row.cores) == (workload, cores)]
    others = map(Run, (path for path in beside if path != folder.resolve() and is_of_this_format(path)))
    trials = [run.folder for run in others if run.settings == wanted.settings and run.builds == wanted.builds]
    (found,) = load_runs([folder, *trials])
    return found


def file_of(text: str) -> Path | None:
    """The file or folder that ``text`` names; None where it is settings, of any length (`Path.exists` raises then)."""
    if not text or ("=" in text and not os.path.exists(text)):
        return None
    path = Path(text)
    return path if os.path.isdir(path) or text.endswith((".toml", "/")) or "/" in text else None
