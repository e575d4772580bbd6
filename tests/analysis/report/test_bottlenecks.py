# SPDX-License-Identifier: BSD-3-Clause
"""The catalogue: the paper's 16 are all there, and sites seen on both kernels fall where they belong."""

import pytest

from analysis.report.bottlenecks import UNEXPLAINED, Catalogue, load_catalogue


def test_the_sixteen_of_the_paper() -> None:
    assert sorted(entry.paper for entry in load_catalogue() if entry.paper) == list(range(1, 17))


def test_identifiers_are_unique() -> None:
    names = [entry.id for entry in load_catalogue()]
    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("field", "functions", "expected"),
    [
        ("dentry.d_lockref.lock_count", ["lockref_get_not_dead"], "dentry-reference-count"),
        ("dentry.d_count", ["dput"], "dentry-reference-count"),
        ("dentry.d_lockref.lock_count", ["_raw_spin_lock", "__d_lookup"], "dentry-lookup-lock"),
        ("dentry.d_lock", ["_spin_lock", "__d_lookup"], "dentry-lookup-lock"),
        ("dentry.d_lock", ["__ticket_spin_lock", "_raw_spin_lock"], "dentry-lookup-lock"),
        ("vfsmount.mnt_count", ["mntput_no_expire"], "mount-reference-count"),
        ("vfsmount_lock", ["_spin_lock"], "mount-table-lock"),
        ("list_head.next", ["__lookup_mnt", "lookup_mnt"], "mount-table-lock"),
        ("inet_connection_sock.icsk_accept_queue.rskq_lock", ["inet_csk_accept"], "accept-queue"),
        ("sock.sk_lock.slock", ["inet_csk_accept"], "accept-queue"),
        ("dst_entry.__refcnt", ["dst_release"], "dst-reference-count"),
        ("tcp_memory_allocated", ["__sk_mem_schedule"], "protocol-memory"),
        ("super_block.s_files", ["file_kill"], "open-file-list"),
        ("zone.lock", ["dma_generic_alloc_coherent"], "dma-buffers"),
        ("net_device.features", ["dev_queue_xmit"], "net-device-fields"),
        ("page._refcount", ["put_page"], "page-fields"),
        ("inode_lock", ["new_inode"], "inode-lists"),
        ("dcache_lock", ["d_instantiate"], "dcache-lists"),
        ("inode.i_mutex.count", ["mutex_lock"], "lseek-mutex"),
        ("hugetlb_instantiation_mutex.count", ["hugetlb_fault"], "super-page-fault-mutex"),
        ("user memory", ["clear_page", "clear_huge_page"], "super-page-zeroing"),
        ("freed user memory", ["copy_page"], "process-memory"),
        ("inode.i_lock", ["_raw_spin_lock"], "inode-state"),
        ("runqueues.__lock", ["try_to_wake_up"], "scheduler"),
    ],
)
def test_sites(field: str, functions: list[str], expected: str) -> None:
    assert Catalogue().classify(field, functions, True).id == expected


def test_user_code_is_the_application_whatever_it_touches() -> None:
    assert Catalogue().classify("something", ["user"], False).id == "user-memory"


def test_the_rest_is_unexplained() -> None:
    assert Catalogue().classify("widget.count", ["widget_get"], True) is UNEXPLAINED
