"""What both rules share: blocks, tokens, a cache of prefixes, and what a request is billed for."""

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

TOKEN_BYTES = 4
IMAGE_TOKENS = 1_000


class RefusedError(Exception):
    """A request that the provider answers with status 400."""


def tokens_of(text: str) -> int:
    """A token per four bytes of UTF-8, rounded up."""
    return -(-len(text.encode(errors="surrogatepass")) // TOKEN_BYTES)


def text_of(tokens: int, name: str = "tok") -> str:
    """A text of exactly so many tokens; other names give texts that differ from the first token."""
    return f"{name:<{TOKEN_BYTES}.{TOKEN_BYTES}}" * tokens


def canonical(value: object) -> str:
    """JSON without spaces. The order of keys stays: the providers compare bytes, too."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Block:
    """The smallest part of a request that can end a prefix.

    Attributes:
        place: `tools`, `system` or `messages`.
        role: The author of its message; empty in front of the messages.
        kind: The block's type, such as `text` or `tool_result`.
        content: What has to match, byte for byte.
        tokens: What it adds to the input.
        mark: The lifetime that the block's own breakpoint asks for; None without one.
        ends: True if a message ends with it.
    """

    place: str
    role: str
    kind: str
    content: str
    tokens: int
    mark: str | None = None
    ends: bool = False

    @property
    def identity(self) -> tuple[str, str, str]:
        return self.role, self.kind, self.content


@dataclass(frozen=True, slots=True)
class Metered:
    """The input of one request, in tokens, by what it is billed as.

    Attributes:
        blocks: The request as it was rendered.
        read: Tokens read from the cache.
        written: Tokens written to it, by lifetime.
        kept: Tokens that the request has in common with the one before, from the start.
    """

    blocks: tuple[Block, ...]
    read: int
    written: Mapping[str, int] = field(default_factory=dict)
    kept: int = 0

    @property
    def total(self) -> int:
        return sum(block.tokens for block in self.blocks)

    @property
    def fresh(self) -> int:
        """Tokens at the full price."""
        return self.total - self.read - sum(self.written.values())

    def billed(self, *, read: float = 0.1, write: float = 1.25, hour: float = 2.0) -> float:
        """The tokens as if all had the full price; by default at Anthropic's usual ratios."""
        long = self.written.get("1h", 0)
        short = sum(self.written.values()) - long
        return self.fresh + self.read * read + short * write + long * hour


def sums(blocks: Sequence[Block]) -> list[int]:
    """The tokens of each prefix, by its last block."""
    return list(itertools.accumulate(block.tokens for block in blocks))


def digests(blocks: Sequence[Block], salts: Mapping[str, str]) -> list[str]:
    """A key of each prefix, by its last block.

    `salts` has the settings that are part of a place and of all places after it.
    """
    running = hashlib.sha256()
    place = None
    keys = []
    for block in blocks:
        if block.place != place:
            place = block.place
            running.update(f"\0{place}\0{salts.get(place, '')}\0".encode())
        running.update("\0".join(("", *block.identity)).encode())
        keys.append(running.hexdigest())
    return keys


def common_tokens(before: Sequence[Block], now: Sequence[Block]) -> int:
    """The tokens of the longest common prefix, also of a part of a block."""
    tokens = 0
    for one, other in zip(before, now, strict=False):
        if one.identity == other.identity:
            tokens += other.tokens
            continue
        if one.role != other.role:
            return tokens
        pairs = zip(one.content.encode(), other.content.encode(), strict=False)
        same = sum(1 for _ in itertools.takewhile(lambda pair: pair[0] == pair[1], pairs))
        return tokens + min(same // TOKEN_BYTES, one.tokens, other.tokens)
    return tokens


class PrefixCache:
    """Prefixes that were written, until their lifetime is over.

    `now` is the time in seconds, which only the tests move on.
    """

    def __init__(self, lifetimes: Mapping[str, float]) -> None:
        self.now = 0.0
        self._lifetimes = lifetimes
        self._entries: dict[tuple[str, str], tuple[str, float]] = {}

    def holds(self, scope: str, digest: str) -> bool:
        entry = self._entries.get((scope, digest))
        return entry is not None and self.now < entry[1]

    def keep(self, scope: str, digest: str, lifetime: str) -> None:
        """Write an entry; one that lives is refreshed, with the lifetime that it has."""
        if self.holds(scope, digest):
            lifetime = self._entries[scope, digest][0]
        self._entries[scope, digest] = (lifetime, self.now + self._lifetimes[lifetime])

    def refresh(self, scope: str, digest: str) -> None:
        self.keep(scope, digest, self._entries[scope, digest][0])
