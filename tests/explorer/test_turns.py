"""Pages take turns: a few are computed at a time, nobody waits for ever, and a page that fails gives its turn back."""

import threading

import pytest

from mirage.explorer.kit import frame as turns


class Crowd:
    """Threads that take a turn each and keep it until they are told to leave."""

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.leave = threading.Event()
        self.threads: list[threading.Thread] = []

    def join_in(self) -> None:
        thread = threading.Thread(target=self._keep)
        self.threads.append(thread)
        thread.start()

    def _keep(self) -> None:
        with turns.turn():
            self.entered.release()
            self.leave.wait(60)

    def all_leave(self) -> None:
        self.leave.set()
        for thread in self.threads:
            thread.join(60)


def test_one_page_too_many_waits_until_another_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 60)
    crowd = Crowd()
    for _ in range(turns.AT_ONCE):
        crowd.join_in()
    assert all(crowd.entered.acquire(timeout=60) for _ in range(turns.AT_ONCE))
    crowd.join_in()
    assert not crowd.entered.acquire(timeout=0.2), "the page began although all turns were taken"
    crowd.leave.set()
    assert crowd.entered.acquire(timeout=60), "the page never had its turn"
    crowd.all_leave()


def test_slow_pages_do_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 0.01)
    crowd = Crowd()
    for _ in range(3 * turns.AT_ONCE):
        crowd.join_in()
    assert all(crowd.entered.acquire(timeout=60) for _ in range(3 * turns.AT_ONCE))
    crowd.all_leave()


def test_a_page_that_fails_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "PATIENCE", 60)
    for _ in range(3 * turns.AT_ONCE):
        with pytest.raises(ZeroDivisionError), turns.turn():
            raise ZeroDivisionError
    crowd = Crowd()
    for _ in range(turns.AT_ONCE):
        crowd.join_in()
    assert all(crowd.entered.acquire(timeout=60) for _ in range(turns.AT_ONCE))
    crowd.all_leave()
    # A page that ran out of turn gives back nothing: a second release would raise.
    monkeypatch.setattr(turns, "PATIENCE", 0)
    with turns.turn(), turns.turn(), turns.turn():
        pass
