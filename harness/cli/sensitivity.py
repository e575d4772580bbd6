# SPDX-License-Identifier: BSD-3-Clause
"""`run.py sensitivity CLAIM`: which of the paper's claims depend on a parameter of the model.

Each claim is judged on the machine as it is, and with one key of it halved and doubled at a time. A claim whose verdict changes
depends on that key; what the claim's value becomes is in the table. Nodes get a little more memory at a time: which node a kernel
object is on that boot makes follows from that, and a line costs more the farther its home is.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from rich.table import Table
from rich.text import Text

from analysis.report import claims as data
from analysis.report.claims import Claim, Judged, Selection
from common.columns import say, tell
from common.outcome import Failure, bad_input
from common.terminal import console, plain_table
from harness.cli import claims as claims_command
from harness.cli import options
from harness.run.claim_points import points_of
from harness.spec import kernel as kernels
from harness.spec import machine
from harness.spec import point as points
from harness.spec.point import DEFAULTS

KEYS = (
    "l1_cycles",
    "atomic_cycles",
    "pause_cycles",
    "l2_cycles",
    "l3_kib",
    "l3_cycles",
    "probe_filter_kib",
    "dram_local_cycles",
    "hop_cycles",
    "transfer_cycles",
    "read_busy_cycles",
    "link_gbytes_per_second",
    "node_mib",
)
"""Keys of the machine that are changed: caches, probe filter, interconnect, what atomics and busy lines cost, a node's memory."""
CORE_KEYS = (
    "issue_width",
    "jump_cycles",
    "serializing_cycles",
    "window_instructions",
    "hidden_cycles",
    "outstanding_misses",
    "outstanding_stores",
    "code_prefetch_lines",
    "store_buffer_entries",
)
"""What else is changed of cores that work ahead."""
_FACTORS = (Fraction(1, 2), Fraction(2))
_PLACES = (Fraction(1, 16), Fraction(1, 8), Fraction(3, 16))
"""What nodes get more, as a part of what the claim's runs give them: little, so that this host has it."""


@dataclass(frozen=True)
class Variant:
    """The machine with one key at another value, or with ``more`` of each node's memory; no key is the machine as it is."""

    key: str = ""
    value: str = ""
    more: Fraction = Fraction(0)

    @property
    def title(self) -> str:
        if self.more:
            return f"{self.key} + {self.more}"
        return f"{self.key}={self.value}" if self.key else "as it is"

    def of(self, claim: Claim, given: Mapping[str, str] | None = None) -> Claim:
        """The claim on this machine, whose other keys are as ``given``; a key that its runs set themselves stays."""
        return claim.changed(lambda runs: self._on(runs, given or {}))

    def _on(self, runs: Selection, given: Mapping[str, str]) -> Selection:
        if not self.key:
            return runs.on(given)
        if not self.more:
            return runs.on({**given, self.key: self.value})
        have: int = points.resolve(runs.on(given).points(kernels.paper_source())[0]).machine.node_mib
        return runs.on({**given, self.key: str(int(have * (1 + self.more)))})


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "names", nargs="+", metavar="CLAIM", help="claims, or patterns such as 'exim-*' (`run.py claims` lists all)"
    )
    parser.add_argument(
        "--keys",
        metavar="A,B",
        help=f"keys of the machine ({','.join(KEYS)}; with core=interval also {','.join(CORE_KEYS)})",
    )
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="of the machine that is varied")
    options.add_many_options(parser)


def main(arguments: argparse.Namespace) -> int:
    base = dict(map(options.settings_text, arguments.set))
    chosen = [replace(claim, because=()) for claim in data.choose(data.load(), arguments.names)]
    keys = [*KEYS, *(CORE_KEYS if machine.load(DEFAULTS["machine"], base).core == "interval" else ())]
    tried = variants(arguments.keys.split(",") if arguments.keys else keys, base)
    every = [variant.of(claim, base) for variant in tried for claim in chosen]
    wanted = points_of([one for claim in every for one in claim.selections], kernels.paper_source())
    if arguments.dry_run:
        return claims_command.show_plan(wanted, arguments)
    runs, status = claims_command.run_them(wanted, arguments)
    for claim in chosen:
        judged = {variant: data.judge(variant.of(claim, base), runs) for variant in tried}
        console().print(table(claim, judged))
        tell(sentence(claim, judged))
    return status


def variants(keys: Sequence[str], given: Mapping[str, str] | None = None) -> list[Variant]:
    """The machine as ``given`` has it, and with each key changed; what it cannot have is left out, with a word.

    Raises:
        Failure: bad-input, for a key that is no number of the machine.
    """
    given = given or {}
    base = machine.load(DEFAULTS["machine"], given)
    found = [Variant()]
    for key in keys:
        if key == "node_mib":
            found += [Variant(key, more=more) for more in _PLACES]
            continue
        value = getattr(base, key, None)
        if not isinstance(value, int | float) or isinstance(value, bool) or not value:
            raise bad_input(f"{key!r} is no number of the machine that can be halved.", f"Use some of {', '.join(KEYS)}.")
        for factor in _FACTORS:
            changed = Fraction(value) * factor
            variant = Variant(key, str(int(changed)) if isinstance(value, int) else f"{float(changed):g}")
            try:
                machine.load(DEFAULTS["machine"], {**given, key: variant.value})
            except Failure as failure:
                say(f"mosbench: {variant.title} is left out: {failure.unless_interrupted().what}")
                continue
            found.append(variant)
    return found


def table(claim: Claim, judged: Mapping[Variant, Judged]) -> Table:
    """A row for each machine."""
    shown = plain_table("machine", "measured", "verdict", title=f"{claim.name}: {claim.says}", caption=f"Wanted: {claim.bound}.")
    base = judged[Variant()].verdict
    for variant, one in judged.items():
        measured = "" if one.value is None else claim.said(one.value)
        shown.add_row(variant.title, measured, Text(one.verdict, "red" if one.verdict != base else ""))
    return shown


def sentence(claim: Claim, judged: Mapping[Variant, Judged]) -> str:
    """On which keys the verdict depends."""
    base = judged[Variant()].verdict
    known = {variant: one for variant, one in judged.items() if variant.key and one.value is not None}
    turned = [variant.title for variant, one in known.items() if one.verdict != base]
    if base == "not run" or not known:
        return f"{claim.name} was not run on every machine: nothing can be said."
    return (
        f"{claim.name} {base}, with {', '.join(turned) or 'none of these changes'} it does not."
        if base == "holds"
        else (f"{claim.name} differs; it holds with {', '.join(turned) or 'none of these changes'}.")
    )
