# SPDX-License-Identifier: BSD-3-Clause
"""Tables: what is shown is kept, in order, and is a Markdown table on a page."""

import pytest
from rich.table import Table

from common.terminal import console, markdown, recorded


def table() -> Table:
    made = Table("line", "transfers", title="Hot [b]lines[/]")
    made.add_row("dentry.d_lockref", "1,234")
    made.add_row("[red]a|b[/]", "5")
    return made


def test_markdown() -> None:
    assert markdown(table()) == (
        "**Hot lines**\n\n| line | transfers |\n| --- | --- |\n| dentry.d_lockref | 1,234 |\n| a\\|b | 5 |\n"
    )


def test_what_is_shown_is_kept_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    with recorded() as kept:
        print("before")
        console().print(table())
        print("after")
    print("not kept")
    assert [one if isinstance(one, str) else "table" for one in kept] == ["before\n", "table", "after\n"]
    said = capsys.readouterr().out
    assert "dentry.d_lockref" in said and said.endswith("not kept\n")
