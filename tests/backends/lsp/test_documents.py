"""What a server is told of files that change on disk."""

from pathlib import Path

import pytest

from foldline.backends.files.listing import FileStamp
from foldline.backends.lsp.documents import Follower, OpenDocuments

from .programs import spec_of

TEXT = "export const one = 1;\n"


@pytest.mark.parametrize(
    ("server", "file", "told"),
    [
        ("typescript-language-server", "a.ts", ["didOpen", "didChangeWatchedFiles"]),
        ("vtsls", "a.ts", ["didOpen", "didChangeWatchedFiles"]),
        ("ty", "a.py", ["didChangeWatchedFiles"]),
    ],
)
def test_a_server_that_watches_files_late_gets_what_changed_in_them(
    tmp_path: Path, server: str, file: str, told: list[str]
) -> None:
    sent: list[str] = []

    def notify(method: str, _: object) -> None:
        sent.append(method.rpartition("/")[2])

    follower = Follower(spec_of(server), OpenDocuments(tmp_path, notify, 10), notify)
    follower.begin({file: FileStamp(file, 1, 1)}, lambda _: TEXT)
    follower.follow({file: FileStamp(file, 2, 1)}, lambda _: TEXT)
    assert sent == told
