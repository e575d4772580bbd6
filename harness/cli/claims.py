# SPDX-License-Identifier: BSD-3-Clause
"""`run.py claims`: what the paper states, run and judged.

Without names and without --size it lists the claims. Otherwise it runs what they need, as `lab` does, says for each whether it
holds, and writes a report that begins with them. The exit status is 0 when each came out as analysis/claims.toml says of it: it
holds, or is known to differ.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.table import Table
from rich.text import Text

from analysis.report import claims as data
from analysis.report import page
from analysis.report.claims import Claim, Judged, Selection
from analysis.report.runs import Run
from analysis.report.series import load_runs
from common import settings
from common.columns import say, tell
from common.outcome import Failure, Outcome
from common.progress import step
from common.terminal import console, plain_table
from harness.cli import dry_run, options
from harness.cli.conclude import report_path, shortest
from harness.run import many
from harness.spec import kernel as kernels
from harness.spec import point as points
from harness.spec.point import Point

_SIZES = ("quick", "default")


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="claims, or patterns such as 'exim-*'")
    parser.add_argument("--size", choices=_SIZES, help="quick: those for a first half hour; default: all")
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    every = data.load()
    chosen = _chosen(every, arguments)
    if not arguments.names and not arguments.size:
        console().print(_list(every))
        tell("To run and judge some: `./run.py claims NAME`; those for a first half hour: `./run.py claims --size quick`.")
        return 0
    wanted = points_of(chosen, kernels.paper_source())
    if arguments.dry_run:
        return show_plan(wanted, arguments)
    runs, status = run_them(wanted, arguments)
    judged = [data.judge(claim, runs) for claim in chosen]
    if runs:
        _write(judged, list(dict.fromkeys(run.folder for run in runs.values())), arguments)
    console().print(table(judged))
    tell(summary(judged))
    return status or int(any(one.news for one in judged))


def _chosen(every: Sequence[Claim], arguments: argparse.Namespace) -> list[Claim]:
    chosen = data.choose(every, arguments.names) if arguments.names else list(every)
    return [claim for claim in chosen if claim.quick] if arguments.size == "quick" else chosen


def points_of(claims: Sequence[Claim], source: str) -> Mapping[tuple[Selection, int], Point]:
    """The point of each selection and number of cores that the claims need.

    Raises:
        Failure: bad-input, for a selection that is no point.
    """
    return {
        (selection, cores): points.resolve(one)
        for claim in claims
        for selection in claim.selections
        for cores, one in zip(selection.cores, selection.points(source), strict=True)
    }


def show_plan(wanted: Mapping[tuple[Selection, int], Point], arguments: argparse.Namespace) -> int:
    """--dry-run of these points, each once."""
    jobs = arguments.jobs or settings.load().job_count
    return dry_run.show(_each_once(wanted), Path(arguments.output), reuse=arguments.reuse, jobs=jobs)


def run_them(
    wanted: Mapping[tuple[Selection, int], Point], arguments: argparse.Namespace
) -> tuple[dict[tuple[Selection, int], Run], int]:
    """Run these points, each once, and say which failed; the complete runs, and the exit status of the first failure or 0."""
    unique = _each_once(wanted)
    many.prepare_all(unique)
    finished = options.run_points(unique, arguments)
    failed = [ended for ended in finished if ended.outcome is not Outcome.OK]
    for ended in failed:
        say(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}")
    folders = {ended.point.id: ended.folder for ended in finished if ended.folder is not None and ended.outcome is Outcome.OK}
    runs = {key: Run(folder) for key, point in wanted.items() if (folder := folders.get(point.id)) is not None}
    return runs, failed[0].outcome.exit_status if failed else 0


def _each_once(wanted: Mapping[tuple[Selection, int], Point]) -> list[Point]:
    return list({point.id: point for point in wanted.values()}.values())


def _write(judged: Sequence[Judged], folders: Sequence[Path], arguments: argparse.Namespace) -> None:
    report = report_path(arguments, "claims")
    with step(f"Writing the report of {len(folders)} runs"):
        page.write(load_runs(folders), report, first=data.chapter(judged))
    print(f"Report: {shortest(report)}")


def _list(claims: Sequence[Claim]) -> Table:
    shown = plain_table("claim", "section", "what the paper says", title=f"Claims: {len(claims)}")
    for claim in claims:
        shown.add_row(claim.name, claim.section, claim.says)
    return shown


def table(judged: Sequence[Judged]) -> Table:
    """A row for each claim."""
    shown = plain_table("claim", "published", "measured", "wanted", "verdict", title="The paper's claims, and these runs")
    for one in judged:
        measured = "" if one.value is None else one.claim.said(one.value)
        mark = "red" if one.news else ""
        shown.add_row(one.claim.name, one.claim.published, measured, one.claim.bound, Text(one.verdict, mark))
    return shown


def summary(judged: Sequence[Judged]) -> str:
    """One sentence on all of them, and which came out otherwise than before."""
    counts = [f"{sum(one.verdict == verdict for one in judged)} {words}" for verdict, words in _VERDICTS.items()]
    news = [f"{one.claim.name} {_NEWS[one.verdict]}" for one in judged if one.news]
    return f"Of {len(judged)} claims {', '.join(counts)}." + (
        f" Otherwise than claims.toml says: {'; '.join(news)}." if news else ""
    )


_VERDICTS = {"holds": "hold", "differs": "differ", "not run": "were not run"}
_NEWS = {"holds": "holds now", "differs": "differs", "not run": "was not run"}
