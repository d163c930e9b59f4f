"""State kept between evaluations: typed slices, changed by events."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Self, TypeAlias, TypeVar, cast

from foldline.prompts.bus import EventBus, InProcessEventBus, Subscription
from foldline.prompts.dataclasses import FrozenDataclass
from foldline.prompts.errors import PromptConfigurationError
from foldline.prompts.forms.json_values import to_json
from foldline.prompts.forms.values import Mismatch, convert
from foldline.prompts.runtime.conversation import Conversation
from foldline.prompts.specialise import type_name
from foldline.prompts.thread import Exchange, Thread, add_exchange
from foldline.prompts.visibility import SectionPath, SectionVisibility

# One reentrant lock for all slices: a reducer may read other slices, and an event that changes two
# of them is seen in both or in neither. States are immutable, so they can be handed out.

StateT = TypeVar("StateT")
EventT = TypeVar("EventT")

Reducer: TypeAlias = Callable[[StateT, EventT], StateT]
"""Returns the next state for the current one and an event, without changing either."""

FORMAT = 1


@FrozenDataclass()
class SetVisibilityOverride:
    """Show the section at `path` in full or summarized from the next render on.

    It holds in every prompt of the session, or in that of the name `prompt`, its `ns/key`.
    """

    path: SectionPath
    visibility: SectionVisibility
    prompt: str = ""


@FrozenDataclass()
class ClearVisibilityOverride:
    """Show the section at `path` as declared again; without a path, every section."""

    path: SectionPath | None = None


@FrozenDataclass()
class VisibilityOverrides:
    """The overrides of a session, in the order in which they were first set.

    What a model opened belongs to the prompt that showed it: a section with the same path in
    another one stays folded.
    """

    entries: tuple[SetVisibilityOverride, ...] = ()

    @property
    def by_path(self) -> Mapping[SectionPath, SectionVisibility]:
        """Return the overrides of all prompts as renders accept them."""
        return MappingProxyType({entry.path: entry.visibility for entry in self.entries})

    def to_json(self) -> object:
        """Return `[["a", "b"], "FULL"]` for each entry, and the prompt that it belongs to."""
        return [
            [list(e.path), e.visibility.name, *([e.prompt] * bool(e.prompt))] for e in self.entries
        ]

    @classmethod
    def from_json(cls, value: object) -> Self:
        """Return the overrides from the result of `to_json`.

        Raises:
            ValueError: The value has another form.
        """
        try:
            return cls(
                tuple(
                    SetVisibilityOverride(
                        tuple(str(key) for key in path), SectionVisibility[visibility], *prompt
                    )
                    for path, visibility, *prompt in value  # type: ignore[attr-defined]  # As checked below.
                )
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"Visibility overrides are [[path, 'FULL' or 'SUMMARY'], …], not {value!r}."
            ) from error


def set_override(state: VisibilityOverrides, event: SetVisibilityOverride) -> VisibilityOverrides:
    """Return the overrides with one added or replaced; one for all prompts replaces theirs."""
    path, prompt = tuple(event.path), event.prompt
    entries = {
        (entry.path, entry.prompt): entry
        for entry in state.entries
        if prompt or entry.path != path or not entry.prompt
    }
    entries[path, prompt] = SetVisibilityOverride(path, event.visibility, prompt)
    return VisibilityOverrides(tuple(entries.values()))


def clear_override(
    state: VisibilityOverrides, event: ClearVisibilityOverride
) -> VisibilityOverrides:
    """Return the overrides without one, or no overrides."""
    if event.path is None:
        return VisibilityOverrides()
    path = tuple(event.path)
    return VisibilityOverrides(tuple(entry for entry in state.entries if entry.path != path))


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """The states of a session at one moment."""

    states: Mapping[type, object] = field(default_factory=dict)
    encoded: Mapping[str, object] = field(default_factory=dict)
    """States from JSON that haven't been accessed yet, by the name of their type."""

    def to_json(self) -> str:
        """Return the snapshot as JSON text.

        Raises:
            TypeError: A state isn't a dataclass and has no `to_json` method.
        """
        slices = {**self.encoded, **{_name(k): _encode(v) for k, v in self.states.items()}}
        return json.dumps({"format": FORMAT, "slices": slices}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> SessionSnapshot:
        """Return the snapshot from the result of `to_json`; states are decoded at first access.

        No type is imported because a file names it: a state stays encoded until the program itself
        accesses its slice.

        Raises:
            ValueError: The text isn't such a snapshot.
        """
        data = json.loads(text)
        if not isinstance(data, dict) or data.get("format") != FORMAT:
            raise ValueError(f"This is not the JSON of a session snapshot of format {FORMAT}.")
        slices = data.get("slices")
        if not isinstance(slices, dict):
            raise ValueError("A session snapshot has an object `slices`.")
        return cls(encoded=slices)


class Slice(Generic[StateT]):
    """One typed part of a session."""

    __slots__ = ("_kind", "_session")

    def __init__(self, session: Session, kind: type[StateT]) -> None:
        self._session = session
        self._kind = kind

    @property
    def state(self) -> StateT:
        """The current state; initially the type's defaults."""
        return self._session.state(self._kind)

    def apply(self, event: object) -> StateT:
        """Apply an event to this slice only, and return the state.

        Raises:
            PromptConfigurationError: The slice has no reducer for such an event.
        """
        return self._session.apply(self._kind, event)

    def replace(self, state: StateT) -> None:
        """Replace the state."""
        self._session.replace(self._kind, state)

    def __repr__(self) -> str:
        return f"<Slice {self.state!r}>"


class Session:
    """Typed slices of state that events change.

    >>> from foldline.prompts import SectionVisibility
    >>> session = Session()
    >>> _ = session[VisibilityOverrides].apply(
    ...     SetVisibilityOverride(path=("docs",), visibility=SectionVisibility.FULL)
    ... )
    >>> dict(session.visibility_overrides())
    {('docs',): <SectionVisibility.FULL: 1>}

    A state is an immutable dataclass that can be made without arguments. `register` says how it
    follows from events; those published on the bus reach the reducers by themselves. Whatever
    happens in a session stays when an evaluation ends early; take a `snapshot` first to be able
    to `restore` it. Evaluations add what was said to the slice `Thread`. All methods may be called
    from any thread.

    Args:
        bus: The bus to follow, on which evaluations with this session publish.
        session_id: The session's name in events; random by default.
    """

    keeps_prompts_apart = True

    def __init__(self, *, bus: EventBus | None = None, session_id: str | None = None) -> None:
        self.bus: EventBus = InProcessEventBus() if bus is None else bus
        self.session_id = uuid.uuid4().hex if session_id is None else session_id
        self._lock = threading.RLock()
        self._states: dict[type, object] = {}
        self._encoded: dict[str, object] = {}
        self._reducers: dict[tuple[type, type], Callable[..., object]] = {}
        self._subscriptions: dict[type, Subscription] = {}
        self.register(VisibilityOverrides, SetVisibilityOverride, set_override)
        self.register(VisibilityOverrides, ClearVisibilityOverride, clear_override)
        self.register(Thread, Exchange, add_exchange)

    def __getitem__(self, kind: type[StateT]) -> Slice[StateT]:
        """Return the slice of that type."""
        return Slice(self, kind)

    def register(
        self, kind: type[StateT], event_type: type[EventT], reducer: Reducer[StateT, EventT]
    ) -> None:
        """Register a reducer of the slice `kind` for events of `event_type`.

        Registering the same pair again replaces the reducer, so that a section or tool that is
        cloned into a session twice doesn't act twice.
        """
        with self._lock:
            self._reducers[kind, event_type] = reducer
            if event_type not in self._subscriptions:
                self._subscriptions[event_type] = self.bus.subscribe(event_type, self.dispatch)

    def dispatch(self, event: object) -> None:
        """Apply an event to every slice with a reducer for it."""
        with self._lock:
            for kind in dict.fromkeys(kind for kind, _ in self._matching(event)):
                self.apply(kind, event)

    def state(self, kind: type[StateT]) -> StateT:
        """Return the current state of the slice of that type."""
        with self._lock:
            if kind not in self._states:
                name = _name(kind)
                if name in self._encoded:
                    # A state that can't be decoded stays encoded.
                    self._states[kind] = _decode(self._encoded[name], kind)
                    del self._encoded[name]
                else:
                    return _initial(kind)
            return cast("StateT", self._states[kind])

    def replace(self, kind: type[StateT], state: StateT) -> None:
        """Replace the state."""
        with self._lock:
            self._encoded.pop(_name(kind), None)
            self._states[kind] = state

    def apply(self, kind: type[StateT], event: object) -> StateT:
        """Apply an event to one slice only, and return its state.

        Raises:
            PromptConfigurationError: The slice has no reducer for such an event.
        """
        with self._lock:
            reducers = [r for k, r in self._matching(event) if k is kind]
            if not reducers:
                names = sorted(type_name(e) for k, e in self._reducers if k is kind)
                raise PromptConfigurationError(
                    f"The slice {type_name(kind)} has no reducer for {type_name(type(event))}; "
                    f"it takes {', '.join(names) or 'no events yet: call session.register(…)'}.",
                    dataclass_type=type(event),
                )
            state: object = self.state(kind)
            for reducer in reducers:
                state = reducer(state, event)
            self.replace(kind, cast("StateT", state))
            return cast("StateT", state)

    def visibility_overrides(self, prompt: str = "") -> Mapping[SectionPath, SectionVisibility]:
        """Return the overrides of the prompt `ns/key`, or those of all; explicit ones win."""
        state = self[VisibilityOverrides].state
        kept = tuple(e for e in state.entries if not prompt or e.prompt in {"", prompt})
        return VisibilityOverrides(kept).by_path

    def conversation(self) -> Conversation:
        """The conversation that evaluations with `conversation=` and this session have had."""
        return self[Conversation].state

    def thread(self) -> Thread:
        """The exchanges of this session so far; intent classifiers get them."""
        return self[Thread].state

    def apply_visibility_overrides(
        self, overrides: Mapping[SectionPath, SectionVisibility], /, prompt: str = ""
    ) -> None:
        """Store these overrides for the prompt `ns/key`, or for all, replacing earlier ones."""
        with self._lock:
            for path, visibility in overrides.items():
                self[VisibilityOverrides].apply(SetVisibilityOverride(path, visibility, prompt))

    def snapshot(self) -> SessionSnapshot:
        """Return the current states."""
        with self._lock:
            return SessionSnapshot(
                MappingProxyType(dict(self._states)), MappingProxyType(dict(self._encoded))
            )

    def restore(self, snapshot: SessionSnapshot) -> None:
        """Restore all states; slices created since are reset to their defaults."""
        with self._lock:
            self._states = dict(snapshot.states)
            self._encoded = dict(snapshot.encoded)

    def close(self) -> None:
        """Unsubscribe from the bus."""
        with self._lock:
            for subscription in self._subscriptions.values():
                subscription.cancel()

    def __repr__(self) -> str:
        return f"<Session {self.session_id}>"

    def _matching(self, event: object) -> list[tuple[type, Callable[..., object]]]:
        return [
            (kind, reducer)
            for (kind, event_type), reducer in self._reducers.items()
            if isinstance(event, event_type)
        ]


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"


def _initial(kind: type[StateT]) -> StateT:
    try:
        return kind()
    except TypeError as error:
        raise PromptConfigurationError(
            f"The slice {type_name(kind)} has no state yet, and {type_name(kind)}() fails: "
            f"{error}. Give its fields defaults, or call session[{type_name(kind)}].replace(…).",
            dataclass_type=kind,
        ) from error


def _encode(state: object) -> object:
    encode = getattr(state, "to_json", None)
    if callable(encode):
        return encode()
    if not hasattr(type(state), "__dataclass_fields__"):
        raise TypeError(
            f"{type_name(type(state))} is not a dataclass; give it `to_json` and `from_json`."
        )
    return to_json(state)


def _decode(value: object, kind: type) -> object:
    decode = getattr(kind, "from_json", None)
    if callable(decode):
        return decode(value)
    try:
        return convert(value, kind, allow_extra_keys=False)
    except Mismatch as mismatch:
        raise ValueError(
            f"The snapshot's {type_name(kind)} does not fit the class: {mismatch}"
        ) from mismatch
