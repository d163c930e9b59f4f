"""The bus delivers in order, keeps failures to itself, and can be used from anywhere."""

import logging
import threading
from dataclasses import dataclass

import pytest

from foldline.prompts.bus import InProcessEventBus, PublishResult, SubscriberFailure


@dataclass(frozen=True)
class Happened:
    what: str


@dataclass(frozen=True)
class Urgent(Happened):
    pass


def test_subscribers_are_called_in_order_with_events_of_their_type_and_its_subclasses() -> None:
    bus = InProcessEventBus()
    seen: list[tuple[str, str]] = []
    bus.subscribe(Happened, lambda event: seen.append(("first", event.what)))
    bus.subscribe(Urgent, lambda event: seen.append(("urgent", event.what)))
    bus.subscribe(Happened, lambda event: seen.append(("last", event.what)))
    assert bus.publish(Urgent("fire")) == PublishResult(3)
    assert bus.publish(Happened("rain")) == PublishResult(2)
    assert bus.publish("nobody listens") == PublishResult(0)
    assert seen == [
        ("first", "fire"),
        ("urgent", "fire"),
        ("last", "fire"),
        ("first", "rain"),
        ("last", "rain"),
    ]


def test_a_cancelled_subscription_gets_nothing_more() -> None:
    bus = InProcessEventBus()
    seen: list[Happened] = []
    with bus.subscribe(Happened, seen.append) as subscription:
        bus.publish(Happened("inside"))
    bus.publish(Happened("outside"))
    subscription.cancel()
    assert seen == [Happened("inside")]


def test_a_failing_subscriber_is_isolated_and_reported(
    caplog: pytest.LogCaptureFixture,
) -> None:
    reported: list[SubscriberFailure] = []
    bus = InProcessEventBus(on_error=reported.append)
    seen: list[Happened] = []
    error = RuntimeError("full disk")

    def fail(_: Happened) -> None:
        raise error

    bus.subscribe(Happened, fail)
    bus.subscribe(Happened, seen.append)
    with caplog.at_level(logging.ERROR):
        result = bus.publish(Happened("now"))
    assert seen == [Happened("now")]
    assert result == PublishResult(1, (SubscriberFailure(Happened("now"), fail, error),))
    assert tuple(reported) == result.failures
    assert "full disk" in caplog.text


def test_a_failing_error_report_does_not_reach_the_publisher(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(_: object) -> None:
        raise RuntimeError("no")

    bus = InProcessEventBus(on_error=fail)
    bus.subscribe(Happened, fail)
    assert len(bus.publish(Happened("now")).failures) == 1
    assert "`on_error`" in caplog.text


def test_a_subscriber_can_publish_subscribe_and_cancel() -> None:
    bus = InProcessEventBus()
    seen: list[str] = []

    def relay(event: Urgent) -> None:
        subscription.cancel()
        bus.subscribe(Happened, lambda later: seen.append(f"new {later.what}"))
        bus.publish(Happened(f"about {event.what}"))

    subscription = bus.subscribe(Urgent, relay)
    bus.publish(Urgent("fire"))
    bus.publish(Urgent("again"))
    assert seen == ["new about fire", "new again"]


def test_many_threads_can_publish_while_others_subscribe() -> None:
    bus = InProcessEventBus()
    lock = threading.Lock()
    seen: list[str] = []

    def keep(event: Happened) -> None:
        with lock:
            seen.append(event.what)

    bus.subscribe(Happened, keep)

    def work(name: str) -> None:
        for number in range(50):
            with bus.subscribe(Urgent, keep):
                bus.publish(Happened(f"{name}{number}"))

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(seen) == sorted(f"{name}{number}" for name in "abcd" for number in range(50))
