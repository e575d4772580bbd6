# SPDX-License-Identifier: BSD-3-Clause
"""What of the board needs no gem5: memory layout, firmware tables, latencies."""

import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from board import acpi, machine_values, memory
from board.latencies import latencies
from board.machine_values import Machine

from harness.spec import machine as harness_machine

GIB = 1 << 30


def load(tmp_path: Path, name: str = "opteron-8431", **overrides: str) -> Machine:
    path = tmp_path / "machine.conf"
    path.write_text(harness_machine.load(name, overrides, "gem5").flat("gem5"))
    return machine_values.read(path)


def test_the_machine_is_the_harness_s(tmp_path: Path) -> None:
    made, theirs = load(tmp_path), harness_machine.load("opteron-8431")
    assert made.node_distances == tuple(distance for row in theirs.node_distances for distance in row)
    assert made.probe_filter_sets * made.probe_filter_ways == 256 * 1024
    assert (made.cores, made.links, made.interleave) == (theirs.cores, theirs.links, theirs.interleave)
    assert made.core == "in-order"
    assert load(tmp_path, core="o3").core == "o3"


@pytest.mark.parametrize(
    ("find", "replace", "said"),
    [
        ("sockets 8\n", "", "sockets is missing"),
        ("line_bytes 64\n", "", "line_bytes is missing"),
        ("sockets 8\n", "sockets 8\nl4_kib 1\n", "l4_kib is not a key that gem5 takes"),
        ("sockets 8\n", "sockets 8\nsockets 8\n", "sockets is given twice"),
        ("sockets 8\n", "sockets eight\n", 'sockets is "eight", which is none of its kind'),
        ("links 0-1 ", "links 0 ", 'links is "0 '),
    ],
)
def test_a_wrong_machine_file_is_one_sentence(find: str, replace: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.conf"
    text = harness_machine.load("opteron-8431", engine="gem5").flat("gem5")
    assert find in text
    path.write_text(text.replace(find, replace))
    with pytest.raises(ValueError, match=f"^machine file {path}: {said}"):
        machine_values.read(path)


def test_memory_goes_round_the_hole(tmp_path: Path) -> None:
    pieces = memory.pieces(load(tmp_path))
    assert [piece.node for piece in pieces] == list(range(8))
    assert (pieces[2].end, pieces[3].start, pieces[7].end) == (3 * GIB, 4 * GIB, 9 * GIB)
    split = memory.pieces(load(tmp_path, node_mib="2048"))
    assert [(p.node, p.start, p.end) for p in split[:3]] == [(0, 0, 2 * GIB), (1, 2 * GIB, 3 * GIB), (1, 4 * GIB, 5 * GIB)]
    assert sum(piece.size for piece in split) == 16 * GIB


@pytest.mark.parametrize("node_mib", ["256", "384", "1024", "2048"])
def test_the_memory_map_covers_all_memory_once(node_mib: str, tmp_path: Path) -> None:
    made = load(tmp_path, node_mib=node_mib)
    entries = memory.e820(made)
    end = 0
    for start, size, _ in sorted(entries):
        assert start >= end
        end = start + size
    usable = sum(size for _, size, kind in entries if kind == 1)
    assert usable == 8 * int(node_mib) * memory.MIB - (0x100000 - 0x9FC00)
    if int(node_mib) * 8 < 3072:
        assert (int(node_mib) * 8 << 20, 3 * GIB - (int(node_mib) * 8 << 20), 2) in entries


def test_srat_names_the_node_of_each_processor_and_piece(tmp_path: Path) -> None:
    made = load(tmp_path)
    cores = (0, 6, 13)
    body = acpi.srat(made, cores)
    assert len(body) == 12 + 3 * 16 + 8 * 40
    processors = [struct.unpack_from("<BBBBI", body, 12 + 16 * i) for i in range(3)]
    assert processors == [(0, 16, 0, 0, 1), (0, 16, 1, 1, 1), (0, 16, 2, 2, 1)]
    kind, size, node, _, start, length = struct.unpack_from("<BBIHQQ", body, 12 + 48 + 3 * 40)
    assert (kind, size, node, start, length) == (1, 40, 3, 4 * GIB, GIB)


def test_slit_is_symmetric_with_the_machine_s_hops(tmp_path: Path) -> None:
    made = load(tmp_path)
    body = acpi.slit(made)
    hops = harness_machine.load("opteron-8431").hops
    assert struct.unpack_from("<Q", body)[0] == 8
    rows = [body[8 + 8 * i : 16 + 8 * i] for i in range(8)]
    assert all(rows[a][b] == rows[b][a] == 10 + 6 * hops[a][b] for a in range(8) for b in range(8))


def checksummed(signature: bytes, body: bytes) -> bytes:
    table = bytearray(struct.pack("<4sIBB6s8sI4sI", signature, 36 + len(body), 1, 0, b"mosb", b"", 1, b"mosb", 1) + body)
    table[9] = -sum(table) & 0xFF
    return bytes(table)


@pytest.mark.skipif(shutil.which("iasl") is None, reason="the package acpica-tools is not installed")
def test_a_disassembler_understands_every_table(tmp_path: Path) -> None:
    made = load(tmp_path)
    tables = {
        "dsdt": checksummed(b"DSDT", acpi.dsdt(io_apic_pin=[(4, 16), (5, 17)])),
        "facp": checksummed(b"FACP", acpi.fadt(sci=9, event_block=0x600, control_block=0x604)),
        "srat": checksummed(b"SRAT", acpi.srat(made, range(48))),
        "slit": checksummed(b"SLIT", acpi.slit(made)),
    }
    for name, table in tables.items():
        (tmp_path / f"{name}.aml").write_bytes(table)
        done = subprocess.run(["iasl", "-d", f"{name}.aml"], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    text = (tmp_path / "dsdt.dsl").read_text()
    for expected in ('EisaId ("PNP0A03")', "_PRT", "0x0004FFFF", "0x0005FFFF", "0xC0000000"):
        assert expected in text
    again = subprocess.run(["iasl", "-p", "again", "dsdt.dsl"], cwd=tmp_path, capture_output=True, text=True)
    assert "0 Errors" in again.stdout + again.stderr


def test_latencies_add_up_and_refuse_what_cannot_be(tmp_path: Path) -> None:
    made = load(tmp_path)
    found = latencies(made)
    assert found.data + 1 == made.l1_cycles
    assert found.link_out + found.link_back == made.hop_cycles - 6
    with pytest.raises(ValueError, match="cannot be as fast"):
        latencies(load(tmp_path, hop_cycles="2"))
