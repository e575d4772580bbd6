# SPDX-License-Identifier: BSD-3-Clause
"""The algebra of settings."""

import re

import pytest

from common.outcome import Failure
from harness.spec import sweep
from harness.spec.sweep import Space, alternatives, parse


def settings(text: str) -> list[dict[str, str]]:
    return [dict(one) for one in parse(text).settings]


def test_product_of_alternatives() -> None:
    assert settings("workload=micro:stat+micro:lseek * cores=1+48") == [
        {"workload": "micro:stat", "cores": "1"},
        {"workload": "micro:stat", "cores": "48"},
        {"workload": "micro:lseek", "cores": "1"},
        {"workload": "micro:lseek", "cores": "48"},
    ]


def test_later_values_take_the_place_of_earlier_ones() -> None:
    assert settings("a=1 * b=2 * a=3+4") == [{"a": "3", "b": "2"}, {"a": "4", "b": "2"}]


def test_sum_of_groups_and_precedence() -> None:
    assert settings("a=1 + a=2 * b=3") == [{"a": "1"}, {"a": "2", "b": "3"}]
    assert settings("(a=1 + a=2) * b=3") == [{"a": "1", "b": "3"}, {"a": "2", "b": "3"}]


def test_the_same_settings_count_once_in_the_first_place() -> None:
    assert settings("a=1+2+1") == [{"a": "1"}, {"a": "2"}]
    assert settings("(a=1 * b=1) + (b=1 * a=1)") == [{"a": "1", "b": "1"}]


def test_quoted_values_hold_operators() -> None:
    assert settings('kernel="linux:a+b"+linux:stock') == [{"kernel": "linux:a+b"}, {"kernel": "linux:stock"}]


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("linux-2.6.35:stock+pk", ["linux-2.6.35:stock", "linux-2.6.35:pk"]),
        ("linux-2.6.35:lseek+page", ["linux-2.6.35:lseek", "linux-2.6.35:page"]),
        ("linux-2.6.35+pk", ["linux-2.6.35", "linux-2.6.35:pk"]),
        ("linux-2.6.35:pk+linux-6.1+pk", ["linux-2.6.35:pk", "linux-6.1", "linux-6.1:pk"]),
        ('linux-2.6.35:stock+"lseek+page"', ["linux-2.6.35:stock", "linux-2.6.35:lseek+page"]),
        ('"linux-2.6.35:lseek+page"', ["linux-2.6.35:lseek+page"]),
        ("linux-6.1:stock+linux-2.6.35:pk", ["linux-6.1:stock", "linux-2.6.35:pk"]),
        ("stock+pk", ["stock", "pk"]),
        ("stock+linux-2.6.35:stock+pk", ["stock", "linux-2.6.35:stock", "linux-2.6.35:pk"]),
    ],
)
def test_a_kernel_without_a_source_is_of_the_one_before(text: str, meant: list[str]) -> None:
    space = parse(f"cores=1 * kernel={text}")
    assert [one["kernel"] for one in space.settings] == meant
    written = [one.strip('"') for one in re.findall(r'"[^"]*"|[^+]+', text)]
    assert list(space.notes) == [f"kernel {word} is {full}." for word, full in zip(written, meant, strict=True) if word != full]


def test_no_source_is_carried_to_another_setting() -> None:
    space = parse("kernel=linux-2.6.35:stock + kernel=pk * cores=1")
    assert [one["kernel"] for one in space.settings] == ["linux-2.6.35:stock", "pk"]
    assert space.notes == ()


def test_product_is_associative_and_distributes_over_sums_on_its_left() -> None:
    a, b, c = alternatives("a", "12"), alternatives("b", "34"), alternatives("a", "56")
    assert (a * b) * c == a * (b * c)
    assert (a + b) * c == a * c + b * c
    unit = Space(({},))
    assert unit * a == a == a * unit


def test_writing_reads_back() -> None:
    one = {"kernel": "linux:a+b", "workload": "micro:stat:iterations=3,warmup=1"}
    assert settings(sweep.write(one)) == [one]


@pytest.mark.parametrize("text", ["", "a", "a=1 b=2", "a=1 *", "(a=1", "a=1)", "a=", "=1", "a=1 + + b=2", "a=b*c", 'a="x'])
def test_nonsense_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Failure, match="cores=1") as caught:
        parse(text)
    assert caught.value.what
