# SPDX-License-Identifier: BSD-3-Clause
"""The cluster of databases in the image: the same bytes each time, made by the image's own initdb."""

import time
from pathlib import Path

import pytest

from harness.build import image, image_packages, postgresql_cluster
from harness.spec import workload


@pytest.mark.guest
@pytest.mark.parametrize("on_disk", [{}, {"rows": "20000", "files": "2"}], ids=["no table", "a table"])
def test_two_clusters_are_the_same_bytes(tmp_path: Path, on_disk: dict[str, str]) -> None:
    recipe = image.load_recipe().with_packages(workload.load("postgresql").packages)
    tree = image_packages.load_tree(image_packages.unpacked(recipe.selection))
    made = []
    for name in ("a", "b"):
        folder = tmp_path / name
        folder.mkdir()
        postgresql_cluster._make(tree, folder, on_disk)
        data = folder / "data"
        made.append({str(path.relative_to(data)): path.read_bytes() for path in data.rglob("*") if path.is_file()})
        time.sleep(1.1)  # another second of the host's clock, whose seconds a cluster's number is made from
    assert made[0].keys() == made[1].keys()
    assert [name for name in made[0] if made[0][name] != made[1][name]] == []
    assert made[0]["PG_VERSION"] == b"15\n"
    assert "postgresql.conf" not in made[0]
    largest = max(len(content) for name, content in made[0].items() if name.startswith("base/"))
    assert (largest > 20000 * 60) == bool(on_disk)  # a row of 24 characters and its key, with their heads


def test_only_libraries_that_are_not_the_c_library_s_go_along() -> None:
    for name in ("libc.so.6", "libm.so.6", "libnss_files.so.2", "ld-linux-x86-64.so.2", "libpthread.so.0"):
        assert postgresql_cluster._OF_GLIBC.fullmatch(name)
    for name in ("libcrypto.so.3", "libicudata.so.72.1", "libmount.so.1", "libcrypt.so.1", "libreadline.so.8", "librtmp.so.1"):
        assert not postgresql_cluster._OF_GLIBC.fullmatch(name)


def test_the_table_is_made_by_the_commands_of_the_guest_s_client() -> None:
    client = (postgresql_cluster.HOST.parent / "src" / "client.c").read_text()
    made = postgresql_cluster._table({"rows": "5000", "files": "2"}, Path("rows")).split(";\n\n")
    for command in made[2:]:  # after the two files
        if not command.startswith(("COPY", "CREATE EXTENSION")) and command:
            assert f'command(connection, "{command}");' in client
    assert [command.replace("before_0", "before_%lu") for command in made[:1]] == ["CREATE TABLE before_%lu ()"]
    assert '"CREATE TABLE before_%lu ()"' in client
