# SPDX-License-Identifier: BSD-3-Clause
"""metrics.json: what a run did per second of guest time, and what its cores were busy with. Its keys: `metric_keys`."""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from analysis.attribute.records import WINDOWS, Records, read_records
from analysis.attribute.run_tables import OfMemory
from common.json_files import read_json
from common.outcome import Failure, Outcome
from harness.run.console import ConsoleReader, judge
from harness.spec.metric_keys import OF_WHOLE_REGION, odd
from harness.spec.point import Point


def measure(folder: Path, point: Point, of_memory: OfMemory) -> dict[str, Any]:
    """The metrics of a finished run from its console and records, and ``of_memory``, which `write_run_tables` returns.

    Raises:
        Failure: application-failed or wrong-result from the console, engine-crash for records that cannot be read.
    """
    reader = ConsoleReader()
    reader.feed((folder / "console.log").read_bytes())
    result = judge(reader, folder / "console.log").result
    records = read_records(folder / "engine" / "records.bin")
    # Of a region that a program of the user's marked, and where the workload does not say it, the engine saw how long it was.
    if result.get("region") == "marked" or "cycles_per_core" not in result:
        result = {**result, "cycles_per_core": [records.roi_cycles] * len(result["per_core"])}
    windows = read_windows(folder / "engine" / WINDOWS)
    if windows is not None:
        result = in_windows(result, windows, records.roi_cycles)
    work, shares = throughput(result, point), split(records)
    time = {"microseconds_per_unit": time_per_unit(shares, records, work["units"], point)}
    rest = {"engine": records.engine, "roi_cycles": records.roi_cycles, **asdict(of_memory)}
    made = {**work, **shares, **time, **rest}
    if windows is not None:
        made["windows"] = len(windows["windows"])
    assert not odd(made), f"keys of metrics.json that are not as they are said to be: {odd(made)}"
    return made


def read_windows(path: Path) -> dict[str, Any] | None:
    """windows.json of a run whose region was measured in windows; None of another."""
    return read_json(path) if path.exists() else None


def in_windows(result: dict[str, Any], windows: Mapping[str, Any], cycles: int) -> dict[str, Any]:
    """The result event of a region of which windows were measured, ``cycles`` of each core: with the work that is done in them.

    It is the part of the region's that they have of the instructions which programs execute in it. Latencies of clients and
    times of the link are left out: those of the region are of processors that wait for nothing.
    """
    share = sum(window["program_instructions"] for window in windows["windows"]) / max(windows["program_instructions"], 1)
    per_core = [units * share for units in result["per_core"]]
    of_windows = {"units": result["units"] * share, "per_core": per_core, "cycles_per_core": [cycles] * len(per_core)}
    if "load" in result:
        of_windows["load"] = {key: value for key, value in result["load"].items() if key not in OF_WHOLE_REGION}
    return {**result, **of_windows}


def throughput(result: dict[str, Any], point: Point) -> dict[str, Any]:
    """Work per second of guest time from the guest's result event.

    Raises:
        Failure: application-failed, when no core reports a cycle.
    """
    hertz = point.machine.clock_ghz * 1e9
    longest = max(result["cycles_per_core"])
    if longest <= 0:
        raise Failure(
            Outcome.APPLICATION_FAILED, "The workload reports a region of 0 cycles.", "See the result line in console.log."
        )
    entries = list(zip(_numbers(result, point.cores), result["per_core"], result["cycles_per_core"], strict=True))
    rate = result["units"] / (longest / hertz)
    return {
        "units": result["units"],
        "unit": result["unit"],
        "seconds": longest / hertz,
        "units_per_second": rate,
        "units_per_second_core": rate / point.cores,
        **{key: result[key] for key in ("dropped", "late", "load") if key in result},
        "per_core": [
            {"core": core, "units": units, "cycles": cycles, "units_per_second": units / (cycles / hertz) if cycles else 0.0}
            for core, units, cycles in entries
        ],
    }


def _numbers(result: dict[str, Any], cores: int) -> list[int | None]:
    """The core of each entry of per_core: as the guest says, else in order; none where one entry stands for many cores."""
    if "cores" in result:
        return list(result["cores"])
    count = len(result["per_core"])
    return [None] if count == 1 < cores else list(range(count))


def time_per_unit(shares: dict[str, Any], records: Records, units: int, point: Point) -> dict[str, float] | None:
    """Microseconds of all cores together for one unit of work, by what the cores did; None if the engine has no shares.

    Each cycle of each core is idle or busy, and each busy one user or system by the samples: nothing is counted twice.
    """
    if shares["user"] is None or units <= 0:
        return None
    cycles = int(records.tables["cores"]["cycles"].sum())
    whole = cycles / (point.machine.clock_ghz * 1e3) / units
    return {what: whole * float(shares[what]) for what in ("user", "system", "idle")}


def split(records: Records) -> dict[str, Any]:
    """Shares of user, system and idle time, and instructions, of all cores together."""
    cores, samples = records.tables["cores"], records.tables["samples"]
    out: dict[str, Any] = dict.fromkeys(("user", "system", "idle", "instructions", "cycles_busy", "instructions_per_cycle"))
    total, idle = int(cores["cycles"].sum()), int(cores["idle_cycles"].sum())
    if total <= 0:
        return out
    busy, instructions = total - idle, int(cores["instructions"].sum())
    out |= {"idle": idle / total, "cycles_busy": busy}
    out |= {"instructions": instructions, "instructions_per_cycle": instructions / busy if busy else None}
    taken, in_kernel = int(samples["count"].sum()), int(samples["count"][samples["kernel"] == 1].sum())
    if taken:  # none without a sampling period, or in a region shorter than one
        out |= {"system": busy / total * in_kernel / taken, "user": busy / total * (taken - in_kernel) / taken}
    return out
