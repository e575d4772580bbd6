# SPDX-License-Identifier: BSD-3-Clause
"""The protocol's tables, read from its source with gem5's own SLICC; needs gem5's source (v24.0), not a gem5 that was built.

python3 gem5-configs/protocol/tables.py GEM5_SOURCE > docs/reference/protocol-tables.md
"""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCE = Path(__file__).with_name("MOESI_htassist.slicc")
_TITLES = {"L1Cache": "Core", "L3Cache": "Node", "Directory": "Home", "DMA": "Device"}


@dataclass(frozen=True)
class Transition:
    """One cell of a machine's table."""

    state: str
    event: str
    next: str
    actions: tuple[str, ...]
    """what is done, in words and in order"""


@dataclass(frozen=True)
class Machine:
    """A state machine of the protocol."""

    name: str
    """gem5's machine type, as in its statistics"""
    states: dict[str, str]
    """name to what it means"""
    events: dict[str, str]
    transitions: tuple[Transition, ...]

    def pairs(self) -> set[tuple[str, str]]:
        return {(one.state, one.event) for one in self.transitions}


def has_slicc(gem5: Path) -> bool:
    """Whether a folder is gem5's source."""
    return (gem5 / "src" / "mem" / "slicc" / "parser.py").is_file()


def parse(gem5: Path, source: Path = SOURCE) -> tuple[Any, list[Any]]:
    """SLICC's own objects of a protocol: all of it, and its state machines.

    Args:
        gem5: gem5's source, which is only read.

    Raises:
        FileNotFoundError: ``gem5`` has no SLICC.
        Exception: SLICC's own, with file and line, where the source is wrong.
    """
    if not has_slicc(gem5):
        raise FileNotFoundError(f"{gem5} is no source of gem5: it has no src/mem/slicc.")
    with _path_of_slicc(gem5):
        slicc = importlib.import_module("slicc.parser").SLICC(str(source), str(gem5 / "src" / "mem" / "ruby" / "protocol"))
        slicc.process()
        kind = importlib.import_module("slicc.symbols").StateMachine
        return slicc, slicc.symtab.getAllType(kind)


def machines(gem5: Path, source: Path = SOURCE) -> list[Machine]:
    """The machines of a protocol; see `parse`."""
    return [_machine(found) for found in parse(gem5, source)[1]]


@contextmanager
def _path_of_slicc(gem5: Path) -> Iterator[None]:
    """SLICC imports its neighbours by name; nothing may be written beside them."""
    folders = [str(gem5 / folder) for folder in ("src/mem", "build_tools", "ext/ply")]
    before, sys.path[:0] = sys.dont_write_bytecode, folders
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        for folder in folders:
            sys.path.remove(folder)


def _machine(found: Any) -> Machine:
    return Machine(
        name=found.ident,
        states={state.ident: state.desc for state in found.states.values()},
        events={event.ident: event.desc for event in found.events.values()},
        transitions=tuple(
            Transition(
                state=one.state.ident,
                event=one.event.ident,
                next=one.nextState.ident,
                actions=tuple(action.desc for action in one.actions),
            )
            for one in found.transitions
        ),
    )


def page(found: list[Machine]) -> str:
    """All tables as Markdown: states, events, and what each event does in each state."""
    lines = [
        "# Tables of the protocol",
        "",
        "Drawn from `gem5-configs/protocol` by `gem5-configs/protocol/tables.py`. A cell that is not there cannot happen: gem5",
        "stops with the names of state and event if it does. What the protocol is for and how it works: [protocol](protocol.md).",
    ]
    for machine in found:
        lines += ["", f"## {_TITLES.get(machine.name, machine.name)} (`{machine.name}`)", ""]
        lines += [*_list("State", machine.states), "", *_list("Event", machine.events), ""]
        lines += ["| event | in state | next | what is done |", "|---|---|---|---|"]
        for event in machine.events:
            lines += _rows(event, [one for one in machine.transitions if one.event == event])
    return "\n".join(lines) + "\n"


def _list(title: str, items: dict[str, str]) -> list[str]:
    return [f"| {title} | meaning |", "|---|---|", *(f"| `{name}` | {meaning} |" for name, meaning in items.items())]


def _rows(event: str, transitions: list[Transition]) -> list[str]:
    """States in which the same is done share a row; "same" for a next state: it stays."""
    rows: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for one in transitions:
        following = "same" if one.next == one.state else f"`{one.next}`"
        rows.setdefault((following, one.actions), []).append(f"`{one.state}`")
    return [f"| `{event}` | {', '.join(states)} | {next} | {'; '.join(done)} |" for (next, done), states in rows.items()]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(page(machines(Path(sys.argv[1]))), end="")
