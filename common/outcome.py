# SPDX-License-Identifier: BSD-3-Clause
"""Typed outcomes: how a run or a command can end, and what the user is told."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a run ended. The value is what ``outcome.json`` holds."""

    OK = "ok"
    BAD_INPUT = "bad-input"
    BOOT_HANG = "boot-hang"
    GUEST_PANIC = "guest-panic"
    APPLICATION_FAILED = "application-failed"
    WRONG_RESULT = "wrong-result"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    DISK_FULL = "disk-full"
    PROTOCOL_DEADLOCK = "protocol-deadlock"
    ENGINE_CRASH = "engine-crash"
    INTERRUPTED = "interrupted"

    @property
    def exit_status(self) -> int:
        """Exit status of a command that ends this way: 0 for ok, 2 for bad input, 130 for an interrupt, else 10 and up."""
        special = {Outcome.OK: 0, Outcome.BAD_INPUT: 2, Outcome.INTERRUPTED: 130}
        return special.get(self, 10 + list(Outcome).index(self))


class Failure(Exception):
    """Something ended in another way than ok.

    One sentence says what happened and where (``what``), another what to do about it (``cure``).
    """

    def __init__(self, outcome: Outcome, what: str, cure: str) -> None:
        super().__init__(f"{outcome}: {what} {cure}")
        self.outcome = outcome
        self.what = what
        self.cure = cure

    def unless_interrupted(self) -> "Failure":
        """Itself, for who notes it and goes on with something else; raised again where the user wants all of it to end."""
        if self.outcome is Outcome.INTERRUPTED:
            raise self
        return self


def bad_input(what: str, cure: str) -> Failure:
    """The failure that nearly every validation raises."""
    return Failure(Outcome.BAD_INPUT, what, cure)
