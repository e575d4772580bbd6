# SPDX-License-Identifier: BSD-3-Clause
"""`run.py claims`: what the paper states, run and judged, and its figures drawn from the runs.

Without names and without --size it lists the claims. Otherwise it runs what they need, as `lab` does, says for each whether it
holds, and writes a report that begins with them and with the paper's figures, as far as the runs draw them. The exit status is 0
when each came out as analysis/claims.toml says of it: it holds, or is known to differ and its reasons hold. With --set they are
judged on another machine.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rich.table import Table
from rich.text import Text

from analysis.report import claims as data
from analysis.report import page, paper_figures
from analysis.report.claims import Claim, Judged, Selection
from analysis.report.content import Chapter
from analysis.report.paper_figures import PaperFigure
from analysis.report.runs import Run
from analysis.report.series import load_runs
from common import settings
from common.columns import say, tell
from common.once import reading_once
from common.outcome import Failure, Outcome, bad_input
from common.progress import step
from common.terminal import console, plain_table
from harness.cli import dry_run, options
from harness.cli.conclude import report_path, shortest
from harness.run import catalogue, claim_points, known_costs, many
from harness.run.catalogue import Row
from harness.run.claim_points import SIZES, each_once, of_size, points_of
from harness.run.forecast import forecast
from harness.spec import kernel as kernels
from harness.spec.point import Point


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="claims or figures, or patterns such as 'exim-*'")
    parser.add_argument(
        "--size", choices=SIZES,
        help="quick: those for a first look; default: all, and the figures; paper: all, applications at their size paper",
    )  # fmt: skip
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE",
        help="judge them with another value for a key of the machine, where their runs do not set it; no figures then",
    )  # fmt: skip
    parser.add_argument(
        "--brief", action="store_true", help="the report has the claims and figures, and no chapter on each workload"
    )
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    other = dict(map(options.settings_text, arguments.set))

    def asked_for(runs: Selection) -> Selection:
        return claim_points.at_size(runs.on(other), arguments.size)

    every, figures = [claim.changed(asked_for) for claim in data.load()], paper_figures.load().changed(asked_for)
    if not arguments.names and not arguments.size:
        console().print(_list(every, figures.figures, catalogue.rows(Path(arguments.output))))
        tell("To run and judge some: `./run.py claims NAME`; those for a first look: `./run.py claims --size quick`.")
        return 0
    claims, drawn = _chosen(every, figures.figures, arguments)
    if other and drawn:
        raise bad_input(f"--set is for claims, and {drawn[0].name} is a figure.", "Leave it out; `./run.py claims` lists both.")
    source = kernels.paper_source()
    selections = [one for claim in claims for one in claim.selections] + [one for figure in drawn for one in figure.selections]
    if not other and not arguments.names:
        selections += claim_points.figure_runs(figures, arguments.size)
    wanted = points_of(selections, source)
    if arguments.dry_run:
        return show_plan(wanted, arguments)
    runs, status = run_them(wanted, arguments)
    judged = [data.judge(claim, runs) for claim in claims]
    if runs:
        by_id = {wanted[key].id: run for key, run in runs.items()}
        of_figures = points_of((one for figure in figures.figures for one in figure.selections), source)
        seen = {key: by_id[point.id] for key, point in of_figures.items() if point.id in by_id}
        chapters = [data.chapter(judged)] if judged else []
        chapters += [chapter] if not other and (chapter := paper_figures.chapter(figures, seen)) is not None else []
        _write(chapters, list(dict.fromkeys(run.folder for run in runs.values())), arguments)
    if judged:
        console().print(table(judged))
        if any(one.reasons for one in judged if one.verdict == "differs"):
            console().print(reasons(judged))
        tell(summary(judged))
    return status or int(any(one.news for one in judged))


def _chosen(
    claims: Sequence[Claim], figures: Sequence[PaperFigure], arguments: argparse.Namespace
) -> tuple[list[Claim], list[PaperFigure]]:
    """The claims to judge, and the figures that are asked for by name; others are drawn from what runs there are."""
    if not arguments.names:
        return of_size(claims, arguments.size), []
    drawn = [figure for figure in figures if any(fnmatchcase(figure.name, name) for name in arguments.names)]
    names = [name for name in arguments.names if not any(fnmatchcase(figure.name, name) for figure in drawn)]
    return of_size(data.choose(claims, names), arguments.size), drawn


def show_plan(wanted: Mapping[tuple[Selection, int], Point], arguments: argparse.Namespace) -> int:
    """--dry-run of these points, each once."""
    jobs = arguments.jobs or settings.load().job_count
    return dry_run.show(each_once(wanted), Path(arguments.output), reuse=arguments.reuse, jobs=jobs)


def run_them(
    wanted: Mapping[tuple[Selection, int], Point], arguments: argparse.Namespace
) -> tuple[dict[tuple[Selection, int], Run], int]:
    """Run these points, each once, and say which failed; the complete runs, and the exit status of the first failure or 0."""
    unique = each_once(wanted)
    many.prepare_all(unique)
    finished = options.run_points(unique, arguments)
    failed = [ended for ended in finished if ended.outcome is not Outcome.OK]
    for ended in failed:
        say(f"mosbench: {ended.point.title}: {Failure(ended.outcome, ended.what, ended.cure)}")
    folders = {ended.point.id: ended.folder for ended in finished if ended.folder is not None and ended.outcome is Outcome.OK}
    runs = {key: Run(folder) for key, point in wanted.items() if (folder := folders.get(point.id)) is not None}
    return runs, failed[0].outcome.exit_status if failed else 0


def _write(first: Sequence[Chapter], folders: Sequence[Path], arguments: argparse.Namespace) -> None:
    report = report_path(arguments, "claims")
    with step(f"Writing the report of {len(folders)} runs"):
        page.write(load_runs(folders), report, first=first, brief=arguments.brief)
    print(f"Report: {shortest(report)}")


def _list(claims: Sequence[Claim], figures: Sequence[PaperFigure], rows: Sequence[Row]) -> Table:
    """A row for each, with what its runs take of this host's processors and memory if none of them is there yet."""
    shown = plain_table("claim", "section", "what the paper says", title=f"Claims: {len(claims)}; figures: {len(figures)}")
    shown.columns[0].no_wrap = True  # names are for pasting
    for heading in ("runs", "processor minutes", "GB"):
        shown.add_column(heading, justify="right")
    source, pace = kernels.paper_source(), known_costs.pace(rows)
    with reading_once():
        for claim in claims:
            shown.add_row(claim.name, claim.section, claim.says, *_takes(claim.selections, source, rows, pace))
        for figure in figures:
            says = f"{figure.title}: {figure.says}"
            shown.add_row(figure.name, f"figure {figure.number}", says, *_takes(figure.selections, source, rows, pace))
    return shown


def _takes(selections: Iterable[Selection], source: str, rows: Sequence[Row], pace: float | None) -> tuple[str, str, str]:
    """How many runs these are, minutes of them all and resident GB of the largest, as far as anything is known of them."""
    forecasts = [forecast(point, rows, pace) for point in each_once(points_of(selections, source))]
    if not all(one.known for one in forecasts):
        return str(len(forecasts)), dry_run.UNKNOWN, dry_run.UNKNOWN
    minutes = sum(one.processor_seconds for one in forecasts) / 60
    return str(len(forecasts)), f"{minutes:.0f}", f"{max(one.peak_bytes for one in forecasts) / 1e9:.1f}"


def table(judged: Sequence[Judged]) -> Table:
    """A row for each claim."""
    shown = plain_table("claim", "published", "measured", "wanted", "verdict", title="The paper's claims, and these runs")
    shown.columns[0].no_wrap = True
    for one in judged:
        mark = "red" if one.news else ""
        shown.add_row(one.claim.name, one.claim.published, one.measured, one.claim.bound, Text(one.verdict, mark))
    return shown


def reasons(judged: Sequence[Judged]) -> Table:
    """A row for each reason of those that differ."""
    shown = plain_table("claim", "why it differs", "measured", "wanted", title="Reasons, measured in these runs")
    shown.columns[0].no_wrap = True
    for one in judged:
        name = one.claim.name
        for reason in one.reasons if one.verdict == "differs" else ():
            mark = "red" if reason.verdict != "holds" else ""
            measured = Text(reason.measured or reason.verdict, mark)
            shown.add_row(name, reason.claim.says, measured, reason.claim.bound)
            name = ""
    return shown


def summary(judged: Sequence[Judged]) -> str:
    """One sentence on all of them, and which came out otherwise than before."""
    news = [f"{one.claim.name} {_news(one)}" for one in judged if one.news]
    return f"Of {len(judged)} claims {data.counted(judged)}." + (
        f" Otherwise than claims.toml says: {'; '.join(news)}." if news else ""
    )


def _news(one: Judged) -> str:
    if one.failed:
        return f"differs for another reason (not so: {'; '.join(reason.claim.says for reason in one.failed)})"
    return {"holds": "holds now", "differs": "differs", "not run": "was not run"}[one.verdict]
