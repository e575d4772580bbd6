# SPDX-License-Identifier: BSD-3-Clause
"""The user's gem5: found through the settings, asked what it is. What we need of one is stated here and nowhere else."""

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from common import settings
from common.cache import cached
from common.outcome import Failure, bad_input
from common.paths import REPOSITORY, settings_file
from harness.run.engines.gem5_log import events

CONFIGS = REPOSITORY / "gem5-configs"
VERSION = "24.0"
PROTOCOLS = {"MOESI_hammer": False, "MOESI_htassist": True}
"""Coherence protocols that the board knows, and whether they have an L3: gem5's own, in which what the machine's L3 would serve
comes from memory or another core, and ours (gem5-configs/protocol)."""
OBJECTS = (
    "X86ACPIRawTable",
    "LineTap",
    "CoreSequencer",
    "SocketRouting",
    "MemorySnapshot",
    "CacheWarmer",
    "CachingDecoder",
    "DirectCPU",
    "ReferenceMemory",
    "WriteCombining",
    "LineTap.chain_period",
)
"""Our SimObjects, which gem5 has when it was built with EXTRAS=gem5-configs/simobjects, and newer parameters of them."""
_CARD = "NetworkCard"
"""The same, only needed for points whose clients are behind the network card."""
_PROBE_SECONDS = 120.0


@dataclass(frozen=True)
class Gem5:
    """A gem5 that will do."""

    binary: Path
    version: str
    protocol: str
    """One of `PROTOCOLS`."""
    digest: str
    """SHA-256 of the binary."""
    no_card: str
    """Why it can have no network card, as the end of a sentence; empty if it can."""

    @property
    def has_l3(self) -> bool:
        return PROTOCOLS[self.protocol]


def find() -> Gem5:
    """The gem5 that the settings name.

    Raises:
        Failure: bad-input, naming the one thing that is missing.
    """
    place = settings.load().gem5
    if place is None:
        raise bad_input(
            "The engine gem5 needs a gem5 binary, and the settings name none.",
            f'Put gem5 = "PATH" into {settings_file()}; README.md says which gem5.',
        )
    if not place.is_file() or not os.access(place, os.X_OK):
        raise bad_input(f"The gem5 of the settings, {place}, is not a program.", f"Correct gem5 in {settings_file()}.")
    with open(place, "rb") as handle:
        digest = hashlib.file_digest(handle, "sha256").hexdigest()
    inputs = {"binary": digest, "probe": hashlib.sha256((CONFIGS / "probe.py").read_bytes()).hexdigest()}
    folder = cached("gem5", "probe", inputs, lambda building: _probe(place, building))
    said = json.loads((folder / "probe.json").read_text(encoding="utf-8"))
    if (missing := lacking(said)) is not None:
        raise missing_piece(place, missing)
    return Gem5(place, str(said["version"]), str(said["protocol"]), digest, no_card(said))


def why_absent() -> str | None:
    """Why the engine gem5 cannot be used here, in a sentence; None if it can."""
    try:
        find()
    except Failure as failure:
        return failure.what
    return None


def lacking(said: Mapping[str, Any]) -> str | None:
    """What a gem5 that says ``said`` of itself lacks, as the end of a sentence; None if it has everything."""
    version = str(said.get("version", ""))
    if version != VERSION and not version.startswith(f"{VERSION}."):
        return f"is version {version or 'unknown'}, not {VERSION}"
    if not said.get("x86"):
        return "was built without the x86 instruction set"
    if said.get("protocol") not in PROTOCOLS:
        return f"was built for the protocol {said.get('protocol') or 'none'}, not {' or '.join(PROTOCOLS)}"
    missing = [name for name in OBJECTS if name not in said.get("objects", ())]
    if missing:
        kind = "parameter" if "." in missing[0] else "SimObject"
        return f"lacks the {kind} {missing[0]}: it was not built with EXTRAS={CONFIGS / 'simobjects'} as that is now"
    return None


def no_card(said: Mapping[str, Any]) -> str:
    """Why a gem5 that says ``said`` of itself can have no network card, as the end of a sentence; empty if it can."""
    if said.get("protocol") == "MOESI_hammer":
        return "was built for MOESI_hammer, which loses bytes of a line of which a device writes a part"
    if _CARD not in said.get("objects", ()):
        return f"lacks the SimObject {_CARD}: it was built with the SimObjects of an earlier version"
    return ""


def missing_piece(place: Path, missing: str) -> Failure:
    return bad_input(f"{place} {missing}.", "Build the gem5 that README.md describes and name it in the settings.")


def _probe(place: Path, folder: Path) -> None:
    command = [str(place), "--quiet", f"--outdir={folder / 'm5out'}", str(CONFIGS / "probe.py")]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise missing_piece(place, f"does not run ({error})") from error
    said = next((event for event in events(done.stdout) if event["event"] == "probe"), None)
    if said is None:
        last = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise missing_piece(place, f"does not say what it is; its last line is '{last[:200]}'")
    (folder / "probe.json").write_text(json.dumps(said), encoding="utf-8")
