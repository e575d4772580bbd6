# SPDX-License-Identifier: BSD-3-Clause
"""The cells of the paper's figure 1 as claims: this application meets that bottleneck on the stock kernel.

The catalogue of bottlenecks says which applications the paper has for each of the 16, paper.toml which workload of an application
is looked at, and claims.toml in its table `figure-1.cells.NAME` what is special about a cell.
"""

from collections.abc import Callable, Mapping
from typing import Any

from analysis.report.bottlenecks import Bottleneck
from analysis.report.paper import load_paper, the_sixteen
from common.outcome import Failure

TABLE = "figure-1"
_KEYS = {"cores", "quick", "cells"}
_CELL_KEYS = {"workload", "kernel", "paper", "lines", "functions", "differs", "because"}


def entries(given: Mapping[str, Any], wrong: Callable[[str], Failure]) -> list[dict[str, Any]]:
    """The claims of the table, as the file has others; ``wrong`` makes the failure of what is wrong with it.

    Raises:
        Failure: bad-input, for a key or a cell that means nothing there.
    """
    if unknown := sorted(given.keys() - _KEYS):
        raise wrong(f"has {', '.join(unknown)}, which means nothing there")
    paper, cells = load_paper(), dict(given.get("cells", {}))
    for name, cell in cells.items():
        if unknown := sorted(cell.keys() - _CELL_KEYS):
            raise wrong(f"has {', '.join(unknown)} of {name}, which means nothing there")
    names = {application.title: name for name, application in paper.applications.items()}
    found = []
    for bottleneck in the_sixteen():
        for title in bottleneck.applications:
            name = _name(names[title], bottleneck)
            cell = cells.pop(name, {})
            where = "where all others are fixed" if "kernel" in cell else "on the stock kernel"
            functions = cell.get("functions")
            found.append(
                {
                    "name": name,
                    "section": "4, figure 1",
                    "says": f"{title} meets bottleneck {bottleneck.paper} {where}: {bottleneck.title}",
                    "quick": bool(given.get("quick", False)) and "kernel" not in cell,
                    "quantity": "samples" if functions else "cycles",
                    **({"functions": functions} if functions else {"lines": [bottleneck.id, *cell.get("lines", ())]}),
                    "workload": cell.get("workload", paper.applications[names[title]].matrix),
                    "kernel": cell.get("kernel", "stock"),
                    "paper": cell.get("paper", {}),
                    "of": {"cores": given.get("cores")},
                    "at_least": paper.meets_cycles_share,
                    "differs": cell.get("differs", ""),
                    "because": cell.get("because", ()),
                }
            )
    if cells:
        raise wrong(f"has {min(cells)}, which is no cell of the figure")
    return found


def _name(application: str, bottleneck: Bottleneck) -> str:
    return f"{application}-meets-{bottleneck.id}"
