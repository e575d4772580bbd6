# SPDX-License-Identifier: BSD-3-Clause
"""lwIP from Debian's source package: TCP of the client machines behind the network card (native/load)."""

from pathlib import Path

from harness.build import debian_source

_PACKAGE = ("lwip", "2.1.3")


def inputs() -> dict[str, object]:
    """What the tree follows from, as part of the key of what is built from it."""
    return debian_source.inputs(*_PACKAGE)


def source() -> Path:
    """The source tree.

    Raises:
        Failure: bad-input, as `debian_source.source` does.
    """
    return debian_source.source(*_PACKAGE)
