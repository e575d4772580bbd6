# SPDX-License-Identifier: BSD-3-Clause
"""`run.py image build`."""

import argparse

from harness.build import host_packages, image


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))


def main(arguments: argparse.Namespace) -> int:
    host_packages.require(*host_packages.of_groups("image"))
    print(image.build().path)
    return 0
