# SPDX-License-Identifier: BSD-3-Clause
"""`run.py generate`: for who changes a schema."""

import argparse

from common.paths import REPOSITORY
from harness.build import generated


def configure(parser: argparse.ArgumentParser) -> None:
    pass


def main(arguments: argparse.Namespace) -> int:
    for path in generated.FILES:
        text = generated.wanted(path)
        fresh = path.exists() and path.read_text(encoding="utf-8") == text
        if not fresh:
            path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(REPOSITORY)}: {'is as its schema says' if fresh else 'written'}")
    return 0
