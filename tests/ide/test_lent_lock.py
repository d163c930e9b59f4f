"""A lock that is lent: one at a time is inside, whoever has it."""

import threading

import pytest

from foldline.ide.analysis import lent_lock
from foldline.ide.analysis.lent_lock import LentLock

SECONDS = 60


def test_a_loan_ends_when_the_borrower_has_left() -> None:
    lock, entered, leave = LentLock(), threading.Event(), threading.Event()
    inside: list[str] = []

    def borrow() -> None:
        with lock, lock:
            inside.append("in")
            entered.set()
            assert leave.wait(SECONDS)
            inside.append("out")
        with lock:  # As a borrower still, or after the lender.
            inside.append("later")

    borrower = threading.Thread(target=borrow)
    with lock:
        with lock.lent_to(borrower):
            borrower.start()
            assert entered.wait(SECONDS)
            threading.Timer(0.05, leave.set).start()
        inside.append("lender")
    borrower.join(SECONDS)
    assert inside in (["in", "out", "lender", "later"], ["in", "out", "later", "lender"])


def test_a_borrower_that_never_leaves_is_given_up_and_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lent_lock, "SECONDS", 0.05)
    lock, entered, leave = LentLock(), threading.Event(), threading.Event()
    failures: list[BaseException] = []

    def borrow() -> None:
        try:
            with lock:
                entered.set()
                assert leave.wait(SECONDS)
        except BaseException as error:
            failures.append(error)

    borrower = threading.Thread(target=borrow)
    with lock, lock.lent_to(borrower):
        borrower.start()
        assert entered.wait(SECONDS)
    with lock:
        leave.set()
        borrower.join(SECONDS)
    assert not failures
    assert not borrower.is_alive()
