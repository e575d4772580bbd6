# SPDX-License-Identifier: BSD-3-Clause
"""The board in a script of one's own, without the harness.

    run.py machine show small-2x2 --engine gem5 > machine.conf
    gem5.opt own_script.py --machine machine.conf --kernel vmlinux --disk root.ext2 boot cpt
    gem5.opt own_script.py --machine machine.conf --kernel vmlinux --disk root.ext2 measure cpt

The first command boots Linux without caches until a program of the guest executes gem5's checkpoint operation, and writes the
checkpoint to the folder cpt. The second restores it into the machine's caches and interconnect, runs until the guest executes
gem5's exit operation, and writes the records of all cache lines that were missed (docs/reference/records.md).

Guest programs execute gem5's operations with the macros of disk-images/guest/roi.h; on the disks of `run.py image build` the
command `m5op` does. No harness and none of its guest is needed: tests/gem5/test_example.py runs both commands with a disk that
holds one program.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import m5
from board import machine_values as machines
from board.board import boot_board, timing_board
from m5.objects import Root

parser = argparse.ArgumentParser()
parser.add_argument("--machine", required=True)
parser.add_argument("--kernel", required=True)
parser.add_argument("--disk", required=True)
parser.add_argument("--init", default="/sbin/init", help="first program of the guest (%(default)s)")
parser.add_argument("--cores", type=int, default=2, help="the first N of the machine (%(default)s)")
parser.add_argument("action", choices=["boot", "measure"])
parser.add_argument("checkpoint")
arguments = parser.parse_args()

machine = machines.read(arguments.machine)
command_line = f"root=/dev/sda ro console=ttyS0 tsc=reliable no_timer_check idle=halt lpj=100000 init={arguments.init}"
make = boot_board if arguments.action == "boot" else timing_board
board = make(machine, range(arguments.cores), arguments.kernel, command_line, [arguments.disk])
root = Root(full_system=True, system=board)

if arguments.action == "boot":
    m5.instantiate()
    event = m5.simulate()
    print(f"Stopped at {m5.curTick() / 1e12:.3f} s of guest time: {event.getCause()}")
    if event.getCause() == "checkpoint":
        m5.checkpoint(arguments.checkpoint)
else:
    m5.instantiate(arguments.checkpoint)
    board.ruby.tap.begin()
    event = m5.simulate()
    board.ruby.tap.end()
    problem = board.ruby.tap.write(str(Path(m5.options.outdir) / "records.bin"))
    print(
        problem
        or f"Stopped at {m5.curTick() / 1e12:.3f} s of guest time: {event.getCause()}; the records are in {m5.options.outdir}"
    )
