# SPDX-License-Identifier: BSD-3-Clause
"""`run.py workload new FOLDER`: write the folder of a workload of one's own, which runs as it is."""

import argparse
import shlex
from pathlib import Path

from common.outcome import bad_input
from common.paths import REPOSITORY, given_path
from harness.spec import workload

TEMPLATE = REPOSITORY / "disk-images" / "new-workload"
_WORD = "NAME"


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("new",))
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where to write it; its last part is the workload's name")


def main(arguments: argparse.Namespace) -> int:
    folder = given_path(arguments.folder).resolve()
    write(folder)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        print(path)
    print(f"Run it: ./run.py run {shlex.quote(f'workload={folder} * cores=4')}")
    return 0


def write(folder: Path) -> None:
    """Write a workload that is named as ``folder``, which must not exist.

    Raises:
        Failure: bad-input, when it does, or when its name is none for a workload.
    """
    if not workload.is_name(folder.name):
        raise bad_input(
            f"{folder.name!r} is no name of a workload.", "Take lower-case letters, digits and hyphens, a letter or digit first."
        )
    if folder.exists():
        raise bad_input(f"{folder} is there already.", "Name a folder that is not, or change the files in this one.")
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        target = folder / str(source.relative_to(TEMPLATE)).replace(_WORD, folder.name)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(source.read_text(encoding="utf-8").replace(_WORD, folder.name), encoding="utf-8")
        target.chmod(0o755 if target.name == "run" else 0o644)
