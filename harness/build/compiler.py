# SPDX-License-Identifier: BSD-3-Clause
"""Which compiler this host has: part of what decides a build's result."""

import subprocess

from common.outcome import bad_input


def version_line(name: str) -> str:
    """First line of the --version of a compiler or linker.

    Raises:
        Failure: bad-input, when it does not run.
    """
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise bad_input(f"{name} does not run.", "Install the packages gcc, g++ and binutils.") from error
    return done.stdout.splitlines()[0]
