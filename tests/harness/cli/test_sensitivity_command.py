# SPDX-License-Identifier: BSD-3-Clause
"""`run.py sensitivity`: one key of the machine at a time. Nothing is run."""

from pathlib import Path

import pytest

from analysis.report import claims as data
from analysis.report.claims import Judged
from common.outcome import Failure
from harness.cli import main, sensitivity
from harness.cli.sensitivity import Variant
from harness.run import claim_points, many


def test_each_key_is_halved_and_doubled() -> None:
    found = sensitivity.variants(["hop_cycles", "link_gbytes_per_second", "l3_kib"])
    assert [one.title for one in found] == [
        "as it is",
        "hop_cycles=63",
        "hop_cycles=254",
        "link_gbytes_per_second=2",
        "link_gbytes_per_second=8",
        "l3_kib=3072",
        "l3_kib=12288",
    ]
    assert len(sensitivity.variants(sensitivity.KEYS)) == 1 + 2 * len(sensitivity.KEYS) + 1


def test_nodes_get_more_of_what_the_runs_give_them() -> None:
    _, *found = sensitivity.variants(["node_mib"])
    assert [one.title for one in found] == ["node_mib + 1/16", "node_mib + 1/8", "node_mib + 3/16"]
    (claim,) = data.choose(data.load(), ["postgresql-lseek"])
    assert [dict(one.of(claim).of.settings)["node_mib"] for one in found] == ["1088", "1152", "1216"]
    large = claim.changed(lambda runs: claim_points.at_size(runs, claim_points.PAPER))
    assert [dict(one.of(large).of.settings)["node_mib"] for one in found] == ["2176", "2304", "2432"]
    own = claim.changed(lambda runs: runs.on({"node_mib": "512"}))
    assert dict(found[0].of(own).of.settings)["node_mib"] == "512"  # what its runs set stays
    assert dict(found[0].of(claim, {"node_mib": "512"}).of.settings)["node_mib"] == "544"


def test_cores_that_work_ahead_have_more_keys(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    words = ["sensitivity", "lseek-fix", "--dry-run", "--output", str(tmp_path)]
    in_order = 2 * len(sensitivity.variants(sensitivity.KEYS))
    assert main.main(words) == 0
    assert f"Points: {in_order + 4 * len(sensitivity.CORE_KEYS)}, 0 of them there already" in capsys.readouterr().out
    assert main.main([*words, "--set", "core=in-order"]) == 0
    assert f"Points: {in_order}, 0 of them there already" in capsys.readouterr().out


def test_a_value_that_cannot_be_is_left_out_with_a_word(capsys: pytest.CaptureFixture[str]) -> None:
    found = sensitivity.variants(["sockets"])
    said = capsys.readouterr().err
    assert all(f"{one} is left out: " in said for one in {"sockets=4", "sockets=16"} - {one.title for one in found})


@pytest.mark.parametrize("key", ["links", "nothing", "nic_limits_"])
def test_what_is_no_number_is_refused(key: str) -> None:
    with pytest.raises(Failure, match="is no number of the machine"):
        sensitivity.variants([key])


def test_a_claim_on_another_machine() -> None:
    (claim,) = data.choose(data.load(), ["memcached-no-bend"])
    other = Variant("hop_cycles", "64").of(claim)
    assert other.of.settings == (("hop_cycles", "64"), ("nic_limits", "0"))
    assert Variant("nic_limits", "1").of(claim) == claim  # what its runs set themselves stays
    assert Variant().of(claim) == claim
    given = {"core": "in-order", "hop_cycles": "32"}
    assert Variant().of(claim, given).of.settings == (("core", "in-order"), ("hop_cycles", "32"), ("nic_limits", "0"))
    assert Variant("hop_cycles", "64").of(claim, given).of.settings == (
        ("core", "in-order"),
        ("hop_cycles", "64"),
        ("nic_limits", "0"),
    )


def test_a_key_that_is_given_is_halved_and_doubled(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    words = ["sensitivity", "lseek-fix", "--keys", "hop_cycles", "--set", "hop_cycles=32"]
    assert main.main([*words, "--dry-run", "--output", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert "Points: 6, 0 of them there already" in said
    assert all(f"hop_cycles={cycles}" in said for cycles in (16, 32, 64))


def test_what_a_verdict_depends_on() -> None:
    (claim,) = data.choose(data.load(), ["lseek-fix"])
    good, bad = 1.0 + (claim.at_least or 0), 0.0
    less, more = Variant("hop_cycles", "63"), Variant("hop_cycles", "254")
    judged = {Variant(): Judged(claim, good), less: Judged(claim, bad), more: Judged(claim, good)}
    assert sensitivity.sentence(claim, judged) == "lseek-fix holds, with hop_cycles=63 it does not."
    assert sensitivity.table(claim, judged).row_count == 3
    judged |= {Variant(): Judged(claim, bad)}
    assert sensitivity.sentence(claim, judged) == "lseek-fix differs; it holds with hop_cycles=254."
    judged |= {Variant(): Judged(claim, None)}
    assert "nothing can be said" in sensitivity.sentence(claim, judged)


def test_dry_run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    words = ["sensitivity", "lseek-fix", "--keys", "hop_cycles", "--dry-run", "--output", str(tmp_path)]
    assert main.main(words) == 0
    assert "Points: 6, 0 of them there already" in capsys.readouterr().out


def test_the_reasons_of_a_claim_are_not_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(many, "complete", lambda points, root, reuse: ([], list(points)))
    words = ["sensitivity", "exim-mount-lock", "--keys", "hop_cycles", "--dry-run", "--output", str(tmp_path)]
    assert main.main(words) == 0
    assert "Points: 3, 0 of them there already" in capsys.readouterr().out  # as it is, halved, doubled
