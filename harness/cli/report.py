# SPDX-License-Identifier: BSD-3-Clause
"""`run.py report [RUN...]`: terminal table and HTML report of complete runs, of all by default, or their data as files."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from analysis.attribute.tables import is_of_this_format
from analysis.report.runs import Run
from common import settings
from common.outcome import bad_input
from common.progress import step
from common.uncollected import uncollected
from harness.cli import options, shown, which
from harness.cli.conclude import present, report_path
from harness.run import catalogue, run_directory


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("runs", nargs="*", type=Path, metavar="RUN", help="run directories (default: every complete one)")
    parser.add_argument(
        "--output", type=Path, default=settings.load().runs, metavar="FOLDER", help="folder of the runs (%(default)s)"
    )
    parser.add_argument(
        "--diff", nargs=2, metavar=("A", "B"), help=f"set two runs beside each other in the report; each is {which.WORDS}"
    )
    parser.add_argument("--report", type=options.report_file, default=None, metavar="FILE", help="where to write the HTML report")
    for kind, what in (("csv", "each table of the report"), ("json", "each table of the report"), ("svg", "each figure")):
        parser.add_argument(f"--{kind}", type=Path, metavar="FOLDER", help=f"write {what} as a {kind.upper()} file into FOLDER")
    parser.add_argument(
        "--folded",
        type=Path,
        metavar="FOLDER",
        help="write each run's waiting cycles as folded stacks, for other flame graph tools",
    )
    parser.epilog = (
        "With --csv, --json, --svg or --folded no tables are shown, and the HTML report is written only if --report asks for it."
    )
    shown.add_tables_option(parser)
    shown.add_filters(parser)


def main(arguments: argparse.Namespace) -> int:
    for folder in arguments.runs:
        if wrong := run_directory.fault(folder):
            raise bad_input(f"{folder} is not a complete run: {wrong}.", "Run its point again, or name other runs.")
    folders = list(arguments.runs) or _readable(catalogue.complete_runs(arguments.output))
    if not folders:
        raise bad_input(f"There is no complete run in {arguments.output} that can be read.", "`run.py lab` makes some.")
    if arguments.csv or arguments.json or arguments.svg or arguments.folded:
        _write_data(folders, arguments)
    else:
        present(folders, report_path(arguments, "report"), arguments, diff=_diff(arguments))
    return 0


def _write_data(folders: Sequence[Path], arguments: argparse.Namespace) -> None:
    from analysis.report import data_files, page
    from analysis.report.series import load_runs

    runs = shown.chosen(load_runs(folders), arguments)
    with step(f"Writing the data of {len(runs)} runs"), uncollected():
        diff = _diff(arguments)
        report = page.content(runs, diff=diff)
        if arguments.report:
            page.write(runs, arguments.report, diff=diff)
    writers = (
        (arguments.csv, data_files.write_csv, "tables"),
        (arguments.json, data_files.write_json, "tables"),
        (arguments.svg, data_files.write_svg, "figures"),
        (arguments.folded, data_files.write_folded, "files of stacks"),
    )
    for folder, write, what in writers:
        if folder is not None:
            print(f"{write(report, folder)} {what}: {folder.resolve()}")
    if arguments.report:
        print(f"Report: {arguments.report.resolve()}")


def _diff(arguments: argparse.Namespace) -> tuple[Run, Run] | None:
    if arguments.diff is None:
        return None
    a, b = arguments.diff
    return which.two_runs(a, b, arguments.output)


def _readable(folders: list[Path]) -> list[Path]:
    """Those of ``folders`` whose records are of today's format; says how many are not."""
    kept = [folder for folder in folders if is_of_this_format(folder)]
    if older := len(folders) - len(kept):
        runs = "run whose" if older == 1 else "runs whose"
        print(f"Left out: {older} {runs} records are of another format; run the points again to have them.")
    return kept
