"""An artefact from where a team keeps it: a file, a folder, an https address, an object store.

It's copied to a file without a name in the cache, so that what was checked is what is imported.
"""

from __future__ import annotations

import tempfile
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple
from urllib.parse import urlsplit

from foldline.backends.base.waiting import Threads
from foldline.backends.errors import ArtefactError
from foldline.backends.files.reader import read_chunks
from foldline.backends.formatting.visible import visible
from foldline.backends.index.artefact import MOST_BYTES, SUFFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

NETWORK = "FOLDLINE_INDEX_NETWORK"
"""The environment variable that allows the network, as `--network` does."""
_SECONDS = 300.0
# Of one read: the deadline is that of all.
_SOCKET_SECONDS = 30.0
_CHUNK = 1 << 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OBJECT_STORES = ("s3", "gs", "az")


class Fetched(NamedTuple):
    """An artefact that was copied; None instead of its file where it's the one that is known."""

    file: BinaryIO | None
    source: str
    etag: str = ""


@contextmanager
def fetched(
    where: str, folder: Path, known: Callable[[str], str], *, network: bool = False
) -> Iterator[Fetched]:
    """The artefact at a path or an address, copied into `folder` without a name.

    `known` gives the ETag of what was imported from an address before. Without `network` only files
    are taken. An address is named without its user and its query, which may be secret.

    Raises:
        ArtefactError: It isn't there, too large, too late, or the address isn't allowed.
        PathError: The file can't be read.
    """
    try:
        address = urlsplit(where)
    except ValueError as error:
        raise ArtefactError(f"that isn't an address: {error}") from error
    with tempfile.TemporaryFile(dir=folder) as spool:
        if "://" not in where:
            path = _newest(Path(where))
            _copy(read_chunks(str(path.resolve()), name=where), spool, where)
            found = Fetched(spool, str(path.resolve()))
        else:
            name = f"{address.scheme}://{address.netloc.rpartition('@')[2]}{address.path}"
            if not network:
                raise ArtefactError(
                    f"{name}: the network isn't allowed: add --network, or set {NETWORK}=1"
                )
            etag = known(name)
            take = _from_object_store if address.scheme in _OBJECT_STORES else _from_address
            copying = Threads(1, "foldline-fetch").submit(partial(take, where, name, etag, spool))
            try:
                new = copying.result(_SECONDS)
            except TimeoutError:
                raise ArtefactError(f"{name}: not there after {_SECONDS:.0f} seconds") from None
            found = Fetched(None if new is None else spool, name, new or etag)
        spool.seek(0)
        yield found


def _newest(path: Path) -> Path:
    """The file, or the newest artefact in the folder."""
    if not path.is_dir():
        return path
    # One may vanish between being listed and being looked at.
    found: list[tuple[int, Path]] = []
    for file in path.glob(f"*{SUFFIX}"):
        with suppress(OSError):
            found.append((file.stat().st_mtime_ns, file))
    if not found:
        raise ArtefactError(f"{path}: the folder has no *{SUFFIX} file")
    return max(found)[1]


def _copy(chunks: Iterable[bytes], spool: BinaryIO, name: str) -> None:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > MOST_BYTES:
            raise ArtefactError(f"{name}: it has more than {MOST_BYTES:,} bytes")
        spool.write(chunk)


def _refused(name: str, said: str) -> ArtefactError:
    """An error in the words of a server, on one line."""
    return ArtefactError(f"{name}: {visible(said)}")


def _from_address(where: str, name: str, etag: str, spool: BinaryIO) -> str | None:
    """Copy what is at an address, and return its ETag; None if that is the known one."""
    import ssl
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import HTTPRedirectHandler, HTTPSHandler, Request, build_opener

    class HttpsOnly(HTTPRedirectHandler):
        max_redirections = 5

        def redirect_request(self, *arguments: Any) -> Request | None:
            if urlsplit(arguments[-1]).scheme != "https":
                arguments[1].close()
                raise ArtefactError(f"{name}: is redirected to an address that isn't https")
            return super().redirect_request(*arguments)

    address = urlsplit(where)
    is_local = address.scheme == "http" and address.hostname in _LOOPBACK
    # A user would be part of the host's name, of which a name server is asked.
    if (address.scheme != "https" and not is_local) or "@" in address.netloc:
        stores = ", ".join(_OBJECT_STORES)
        raise ArtefactError(f"{name}: only https, {stores} and files are taken, without a user")
    opener = build_opener(HttpsOnly, HTTPSHandler(context=ssl.create_default_context()))
    request = Request(where, headers={"If-None-Match": etag} if etag else {})
    try:
        with opener.open(request, timeout=_SOCKET_SECONDS) as answer:
            _copy(iter(partial(answer.read1, _CHUNK), b""), spool, name)
            length = answer.headers.get("Content-Length", "")
            if length.isdecimal() and int(length) != spool.tell():
                raise ArtefactError(f"{name}: the connection ended before the file did")
            return str(answer.headers.get("ETag", ""))
    except HTTPError as error:
        error.close()
        if error.code == 304 and etag:
            return None
        raise _refused(name, f"the server answered {error.code} {error.reason}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise _refused(name, str(error)) from error


def _from_object_store(where: str, name: str, etag: str, spool: BinaryIO) -> str | None:
    """The same of an object; credentials are those of the environment, as obstore reads them."""
    import obstore
    from obstore.exceptions import BaseError, NotModifiedError
    from obstore.store import from_url

    bucket, _, file = where.rpartition("/")
    try:
        store = from_url(bucket)
        found = obstore.get(store, file, options={"if_none_match": etag} if etag else {})
        version = found.meta["e_tag"] or ""
        _copy(map(bytes, found.stream(min_chunk_size=_CHUNK)), spool, name)
    except NotModifiedError:
        return None
    except (BaseError, OSError, ValueError) as error:
        # obstore appends all that it knows.
        raise _refused(name, str(error).partition("\n\nDebug source")[0]) from error
    return version
