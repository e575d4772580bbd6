# SPDX-License-Identifier: BSD-3-Clause
"""`run.py image build [WORKLOAD...]`: the disks of workloads."""

import argparse

from harness.build import host_packages, image
from harness.spec import workload


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=("build",))
    parser.add_argument(
        "workloads", nargs="*", metavar="WORKLOAD", help="names, or paths of folders (default: all of workloads/)"
    )


def main(arguments: argparse.Namespace) -> int:
    host_packages.require(*host_packages.of_groups("image"))
    for name in arguments.workloads or workload.names():
        print(image.build(workload.load(name)).root)
    return 0
