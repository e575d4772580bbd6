# SPDX-License-Identifier: BSD-3-Clause
"""`run.py report [RUN...]`: terminal table and HTML report of complete runs, of all of them by default."""

import argparse
from pathlib import Path

from common import settings
from common.outcome import bad_input
from harness.cli.conclude import present, report_path
from harness.run import run_directory


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="run directories (default: every complete one)")
    parser.add_argument(
        "--output", type=Path, default=settings.load().runs, metavar="FOLDER", help="folder of the runs (%(default)s)"
    )
    parser.add_argument("--report", type=Path, default=None, metavar="FILE", help="where to write the HTML report")


def main(arguments: argparse.Namespace) -> int:
    for folder in arguments.runs:
        if wrong := run_directory.fault(folder):
            raise bad_input(f"{folder} is not a complete run: {wrong}.", "Run its point again, or name other runs.")
    folders = list(arguments.runs) or run_directory.complete_runs(arguments.output)
    if not folders:
        raise bad_input(f"There is no complete run in {arguments.output}.", "`run.py lab` makes some.")
    present(folders, report_path(arguments, "report"))
    return 0
