# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of reference counts in user space share: compile a source with the interleaver, run it, break a source."""

import re
import subprocess
from pathlib import Path


def explore(folder: Path, test: Path, *includes: Path) -> subprocess.CompletedProcess[str]:
    """Compile ``test``/interleave.c with what is in ``includes`` into ``folder`` and run it."""
    program = folder / "interleave"
    paths = [f"-I{place}" for place in (test, *includes)]
    warnings = ["-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", "-std=gnu11", "-O2", *warnings, *paths, test / "interleave.c", "-o", program], check=True)
    return subprocess.run([program], capture_output=True, text=True, check=False, timeout=600)


def holds(done: subprocess.CompletedProcess[str], scenarios: int) -> None:
    """Assert that all interleavings of at least so many scenarios ended well."""
    assert done.returncode == 0, done.stdout
    total = re.search(r"^(\d+) executions of (\d+) scenarios$", done.stdout, re.MULTILINE)
    # Fewer would mean that atomic operations are no longer places where another thread may go on.
    assert total and int(total[1]) > 100_000 and int(total[2]) >= scenarios, done.stdout


def break_source(path: Path, text: str, instead: str) -> None:
    """Put ``instead`` in the place of ``text``, which stands in the file once."""
    source = path.read_text()
    assert source.count(text) == 1, "the source changed: break it at another place"
    path.write_text(source.replace(text, instead))


def found(done: subprocess.CompletedProcess[str], what: str, message: str) -> None:
    """Assert that the interleaver found what is broken and says so."""
    assert done.returncode == 1, f"not found: {what}\n{done.stdout}"
    assert message in done.stdout
