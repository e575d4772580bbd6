# SPDX-License-Identifier: BSD-3-Clause
"""What a reader should know first of a workload, in sentences: how it scales, what pays, and whether the cores had work."""

from collections.abc import Sequence

from analysis.report.runs import Run
from analysis.report.series import by_series, common_words, largest
from analysis.report.words import cores_text

MOSTLY_IDLE = 1 / 3
"""Share of the time from which on idle cores are said: what is measured then is also how little work there was."""
FULL = 0.95
"""Share of the time from which on the network card's link counts as full."""


def findings(runs: Sequence[Run]) -> list[str]:
    """A text for each series of one workload's runs, on those with the fewest and with the most cores."""
    found = []
    lasts = largest(runs)
    common = common_words(runs)
    for last in lasts:
        sentences = []
        first = min(by_series(runs)[last.series], key=lambda run: run.cores)
        own = ", ".join(word for word in last.series_words if word not in common)
        named = f"{_on(own or last.series)}: " if len(lasts) > 1 else ""
        if last.cores > first.cores and first.throughput.mean > 0:
            kept = last.throughput.mean / first.throughput.mean
            sentences.append(
                f"{named}with {cores_text(last.cores)} each core does {100 * kept:.0f} % of what "
                f"it does with {cores_text(first.cores)}."
            )
            named = ""
        why = cause(last)
        sentences.append(f"{named}{why[:1].lower()}{why[1:]}" if named else why)
        sentences += filter(None, [idleness(last), shortage(last)])
        found.append(_upper(" ".join(sentences)))
    return found


def cause(run: Run) -> str:
    """One sentence: which line moves between sockets most, or that none matters."""
    if run.transfers_count is False:
        return f"At {cores_text(run.cores)} {run.hardly}: nothing is shared."
    line, first = run.hot_lines(1)[0], run.bottlenecks()[0]
    named = f"of {line.label}" + (f" (“{line.instance}”)" if line.instance else "")
    if run.cross_socket_counts:
        text = f"At {cores_text(run.cores)} {100 * first.transfers_share:.0f} % of the cross-socket transfers are of one kind: "
        text += f"{first.title[:1].lower()}{first.title[1:]}. The hottest line, {named}, makes {100 * line.share:.0f} %"
    else:
        text = (
            f"At {cores_text(run.cores)} hardly a line moves between sockets; within a socket the line that moves most is {named}"
        )
    if line.sites:
        top = line.sites[0]
        text += f", with most of its cycles in {top.function}" + (f" ({top.where})" if top.where else "")
    return text + "."


def idleness(run: Run) -> str:
    """A sentence where more than a third of the cores' time is idle; empty otherwise, and where the engine does not know."""
    idle = run.means["idle"]
    if idle is None or idle <= MOSTLY_IDLE:
        return ""
    text = f"The {cores_text(run.cores)} {'is' if run.cores == 1 else 'are'} idle for {100 * idle:.0f} % of the time: "
    busy, way = run.link
    if busy >= FULL:
        return text + f"the network card's link is full, busy {way} for {100 * busy:.0f} % of it."
    card = "the network card takes no more packets, " if run.metrics.get("load") else ""
    return (
        text
        + f"{card}there is too little work for them, of which a larger size has more, or processes sleep for what others hold."
    )


def shortage(run: Run) -> str:
    """A sentence where nodes of the guest have no memory left; empty otherwise."""
    if not run.full_nodes:
        return ""
    named = ", ".join(map(str, run.full_nodes))
    many = len(run.full_nodes) > 1
    return (
        f"Node{'s' if many else ''} {named} {'have' if many else 'has'} no memory left at {cores_text(run.cores)}: who asked for "
        "some there may have waited, or got another node's. Give nodes more (--set node_mib=N)."
    )


def _on(words: str) -> str:
    """``On`` before a kernel's words, ``With`` before a parameter such as ``warmup=5``."""
    key, equals, _ = words.partition("=")
    return f"{'With' if equals and key.isidentifier() else 'On'} {words}"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
