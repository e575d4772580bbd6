# SPDX-License-Identifier: BSD-3-Clause
"""`run.py image build`."""

import argparse

from harness import image, tools


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))


def main(arguments: argparse.Namespace) -> int:
    tools.require(*tools.of_groups("image"))
    print(image.build().path)
    return 0
