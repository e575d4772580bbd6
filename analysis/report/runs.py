# SPDX-License-Identifier: BSD-3-Clause
"""A complete run directory as the tables and the report see it."""

import json
import tomllib
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.report.engine_facts import EngineFacts, engine_facts
from analysis.report.estimate import Estimate, estimate
from analysis.report.hot_lines import HotLine, Hottest
from analysis.report.kept_tables import FUNCTIONS, LINES, PER_LABEL, KeptTables, Profile, find, profile
from analysis.report.shares import Counts, Share, Summary
from analysis.report.words import cores_text
from common.outcome import bad_input

# Keys of point.toml that follow from the others, and the one that makes trials.
_DERIVED = ("id", "fix_set", "core_list", "machine_changes", "workload_folder", "trial")

FEW = 0.05
"""Transfers per unit of work below which they explain nothing, and a share of them is a share of single events."""
HANDFUL = 50
"""Transfers in all below which the same holds, however little work there is."""


class Run:
    """Lazily read; every property is a function of the files in ``folder``, and its tables come by way of `kept_tables`.

    Raises:
        Failure: bad-input, when the folder is not a complete run.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.trials: tuple[Run, ...] = (self,)
        """All trials of the point by number, of which this one is the first (`load_runs`)."""
        self.distinctions: tuple[str, ...] = ()
        """What tells the run's series from others where its label alone does not, as `load_runs` found."""
        try:
            self.point: dict[str, Any] = tomllib.loads((folder / "point.toml").read_text(encoding="utf-8"))
            self.metrics: dict[str, Any] = json.loads((folder / "metrics.json").read_text(encoding="utf-8"))
            self.provenance: dict[str, Any] = json.loads((folder / "provenance.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise bad_input(f"{folder} is not a complete run ({error}).", "Give a folder that `run.py run` made.") from None

    # ---- the point -----------------------------------------------------------------------------------------------------------

    @property
    def settings(self) -> dict[str, str]:
        """Everything in the point but its trial and what follows from the rest: ``machine.hop_cycles`` -> ``127``, ..."""
        found = {}
        for key, value in self.point.items():
            if key in _DERIVED:
                continue
            for name, one in value.items() if isinstance(value, dict) else ():
                found[f"{key}.{name}"] = str(one)
            if not isinstance(value, dict):
                found[key] = "+".join(map(str, value)) if isinstance(value, list) else str(value)
        return found

    @property
    def trial(self) -> int:
        """Number of the trial."""
        return int(self.point["trial"])

    @property
    def builds(self) -> dict[str, str]:
        """Hash of each build that the run was made from."""
        return dict(self.provenance.get("digests") or {})

    @property
    def workload(self) -> str:
        """``micro:open-close``."""
        return f"{self.point['workload']}:{self.point['variant']}" if self.point.get("variant") else str(self.point["workload"])

    @property
    def parameters(self) -> str:
        """``iterations=100, size=4096``; empty if there are none. That no fault was provoked is not said."""
        given = sorted(self.point.get("parameters", {}).items())
        return ", ".join(f"{key}={value}" for key, value in given if (key, value) != ("fault", "none"))

    @property
    def cores(self) -> int:
        """Cores in use."""
        return int(self.point["cores"])

    @property
    def engine(self) -> str:
        """Which engine the figures come from, with what it says must stand beside its name."""
        return self.engine_facts.label

    @property
    def engine_facts(self) -> EngineFacts:
        """What the engine says of itself."""
        return engine_facts(str(self.point["engine"]), self.provenance)

    @property
    def machine(self) -> str:
        """Name of the simulated machine, with what of it is not as the machine of that name: ``small with l2_kib=64``."""
        changes = self.point.get("machine_changes") or {}
        words = ", ".join(f"{key}={value}" for key, value in sorted(changes.items()))
        return f"{self.point['machine']['name']}{f' with {words}' if words else ''}"

    @property
    def application(self) -> str:
        """Workload without variant: ``micro``, ``memcached``."""
        return str(self.point["workload"])

    @property
    def source(self) -> str:
        """Kernel source, a folder of kernels/."""
        return str(self.point["kernel"])

    @property
    def fixes(self) -> tuple[str, ...]:
        """Fixes of the kernel, sorted; none is stock."""
        return tuple(self.point.get("fixes") or ())

    @property
    def fix_set(self) -> str:
        """``stock``, ``pk`` (all there were), ``pk-FIX`` (all but that), or the fixes."""
        return str(self.point.get("fix_set") or "+".join(self.fixes) or "stock")

    @property
    def kernel(self) -> str:
        """``SOURCE stock``, ``SOURCE pk``, ``SOURCE pk without fix`` or ``SOURCE + fix, fix``."""
        if self.fix_set.startswith("pk-"):
            return f"{self.source} pk without {self.fix_set.removeprefix('pk-')}"
        few = f"+ {', '.join(self.fixes)}" if len(self.fixes) <= 3 else f"+ {len(self.fixes)} fixes"
        return f"{self.source} {self.fix_set if self.fix_set in ('stock', 'pk') else few}"

    @property
    def series(self) -> str:
        """What runs that differ only in cores and trial have in common, besides the workload."""
        return ", ".join(self.series_words)

    @property
    def series_words(self) -> tuple[str, ...]:
        """The parts of `series`: kernel, where it ran, and what tells it from others that have these in common."""
        return (self.kernel, *self._places, *self.distinctions)

    @property
    def place(self) -> str:
        """Where it ran: machine, core order if it is not the usual one, engine."""
        return ", ".join(self._places)

    @property
    def _places(self) -> tuple[str, ...]:
        order = [str(self.point["order"])] if self.point.get("order", "seq") != "seq" else []
        return (self.machine, *order, f"{self.engine} engine")

    @property
    def per_core(self) -> float:
        """Units of work per second and core, of this trial."""
        return float(self.metrics["units_per_second_core"])

    @property
    def throughput(self) -> Estimate:
        """Units of work per second and core, over all trials."""
        return estimate(trial.per_core for trial in self.trials)

    def over_trials(self, value: "Callable[[Run], float | None]") -> float | None:
        """The mean of something over all trials; None where one does not know it."""
        known = [found for found in map(value, self.trials) if found is not None]
        return estimate(known).mean if len(known) == len(self.trials) else None

    @property
    def means(self) -> dict[str, float | None]:
        """What a row of a table says besides throughput, over all trials: shares of the time, transfers between sockets,
        the same per unit of work, and what part of them has a name and an explanation."""
        values: dict[str, Callable[[Run], float | None]] = {
            **{part: partial(Run.part, what=part) for part in ("user", "system", "idle")},
            "transfers": lambda trial: trial.totals["transfers_other_socket"],
            "per_unit": lambda trial: trial.transfers_per_unit,
            "attributed": lambda trial: trial.attributed,
            "unexplained": lambda trial: trial.unexplained,
        }
        return {name: self.over_trials(value) for name, value in values.items()}

    @property
    def unit(self) -> str:
        """What is counted: ``operations``, ``requests``, ..."""
        return str(self.metrics["unit"])

    def part(self, what: str) -> float | None:
        """Share of the cores' time in the region spent in ``user``, ``system`` or ``idle``; None if the engine does not know."""
        value = self.metrics.get(what)
        return None if value is None else float(value)

    @property
    def replies(self) -> str:
        """Replies that did not come or came late, and latencies where clients measure them, in words; empty if nobody counts."""
        counted = [f"{int(self.metrics[key]):,} {key}" for key in ("dropped", "late") if key in self.metrics]
        load = self.metrics.get("load")
        if load and "p50_ns" in load:
            half, most = load["p50_ns"] / 1000, load["p99_ns"] / 1000
            counted.append(f"half within {half:,.0f} µs, 99 % within {most:,.0f} µs")
        return ", ".join(counted)

    @property
    def link(self) -> tuple[float, str]:
        """How busy the link to the network card was in the direction in which it was busier, as a share of the clients' time, and
        that direction in words; 0 where there is no card, and in windows of a region.
        """
        load = self.metrics.get("load") or {}
        ways = {f"{way} the server": load.get(f"link_{way}_server_ns", 0) for way in ("to", "from")}
        way = max(ways, key=lambda name: ways[name])
        return ways[way] / (load.get("ns") or 1), way

    @property
    def full_nodes(self) -> list[int]:
        """Nodes of the guest that had no memory left at the region's end."""
        return list(self.metrics.get("full_nodes", []))

    def home(self, paddr: int) -> int | None:
        """The node whose memory, and so whose home, a line belongs to; None where the run does not say."""
        machine = self.point["machine"]
        if machine.get("interleave") == "line":
            return paddr // int(machine["line_bytes"]) % int(machine["sockets"])
        memory = self.metrics.get("node_memory", {})
        return next((int(node) for node, (start, end) in memory.items() if start <= paddr < end), None)

    @property
    def abandoned(self) -> str:
        """Walks through the guest's memory that were given up when lines were named, in a sentence; empty if there were none."""
        walks: dict[str, int] = self.metrics["abandoned_walks"]
        if not walks:
            return ""
        total, what = sum(walks.values()), ", ".join(f"{name} {count}" for name, count in walks.items())
        return (
            f"{total} walk{'s' if total > 1 else ''} through the guest's memory could not be ended ({what}): "
            "what is behind them has no name, and may be among what is unexplained."
        )

    @property
    def caption(self) -> str:
        """What a table or figure about this run alone is about: workload, parameters, cores, kernel, machine, engine, trial."""
        trial = f", trial {self.trial} of {len(self.trials)}" if len(self.trials) > 1 else ""
        return f"{self.work}, {cores_text(self.cores)}, {self.series}{trial}"

    @property
    def caption_without_kernel(self) -> str:
        """The same of runs that differ in the kernel and have trials of their own."""
        return f"{self.work}, {cores_text(self.cores)}, {self.place}"

    @property
    def work(self) -> str:
        """Workload and parameters: ``micro:open-close (iterations=100)``."""
        return f"{self.workload} ({self.parameters})" if self.parameters else self.workload

    @property
    def cycles_note(self) -> str:
        """What a caption of a table with cycles in it adds: whose they are."""
        return f"; cycles are {self.engine_facts.cycles}" if self.engine_facts.cycles else ""

    @property
    def transfers_per_unit(self) -> float | None:
        """Cross-socket transfers per unit of work; None if the engine does not know."""
        total, units = self.totals["transfers_other_socket"], self.metrics.get("units")
        return None if total is None or not units else total / int(units)

    @property
    def cross_socket_counts(self) -> bool | None:
        """Whether there are so many cross-socket transfers that shares of them say something; None if the engine does not
        know them."""
        return self._enough(self.totals["transfers_other_socket"])

    @property
    def transfers_count(self) -> bool | None:
        """The same of all transfers, and so of which lines have the most."""
        same, other = self.totals["transfers_same_socket"], self.totals["transfers_other_socket"]
        return None if same is None or other is None else self._enough(same + other)

    def _enough(self, count: int | None) -> bool | None:
        return None if count is None else count >= max(HANDFUL, FEW * float(self.metrics.get("units") or 0))

    @property
    def hardly(self) -> str:
        """The sentence about a run in which too few lines move to say more, without its end."""
        count = (self.totals["transfers_same_socket"] or 0) + (self.totals["transfers_other_socket"] or 0)
        if not count:
            return "no line moves between cores in the region of interest"
        return f"hardly a line moves between cores ({count:,} transfers in {int(self.metrics['units']):,} {self.unit})"

    # ---- what the tables show ------------------------------------------------------------------------------------------------

    def hot_lines(self, count: int, per_label: int = PER_LABEL) -> list[HotLine]:
        """The ``count`` lines with the most cross-socket transfers (then same-socket ones, then cycles).

        Of lines with one label (a queue node of each CPU, say) only the first ``per_label`` are in the list; the last of these
        tells how many more there are among the run's hottest and what share they have.
        """
        if per_label == PER_LABEL and count <= LINES:
            return self.kept.hot_lines[:count]
        return Hottest(self.folder).lines(count, per_label, self.totals["transfers_other_socket"] or 0)

    @cached_property
    def kept(self) -> KeptTables:
        """What is shown of the tables, kept beside the run or made from them."""
        return find(self.folder)

    @property
    def summary(self) -> Summary:
        """What is small of the records."""
        return self.kept.summary

    @property
    def totals(self) -> Counts:
        """Sum over all lines of each event, None where the engine does not know it."""
        return self.summary.totals

    @property
    def origins(self) -> dict[str, float]:
        """What the lines are that moved between sockets, see `Summary`."""
        return self.summary.origins

    def bottlenecks(self) -> list[Share]:
        """What each bottleneck costs, most cross-socket transfers first; "unexplained" is one of them. Sites without traffic
        between cores count with their cycles only."""
        return self.summary.bottlenecks

    def fields(self) -> list[Share]:
        """The same per type.field (over all objects)."""
        return self.summary.fields

    @property
    def attributed(self) -> float | None:
        """Share of the cross-socket transfers with a kernel type.field or variable; None without any."""
        return self.origins.get("field")

    @property
    def unexplained(self) -> float | None:
        """Share of the cross-socket transfers that no entry of the catalogue explains; None without any."""
        shares = self.bottlenecks()
        if not any(share.other_socket for share in shares):
            return None
        return sum(share.transfers_share for share in shares if share.bottleneck.id == "unexplained")

    def matrix_of(self, kinds: Iterable[str], what: str = "messages") -> npt.NDArray[np.int64]:
        """``what`` (messages or bytes) of these kinds: shape (sockets, sockets), [requester, home]."""
        return self.kept.matrix(kinds, what, int(self.point["machine"].get("sockets", 0)))

    def profile(self, count: int) -> Profile:
        """(function, file, share of the busy samples), the ``count`` largest."""
        return self.kept.profile[:count] if count <= FUNCTIONS else profile(self.folder)[:count]
