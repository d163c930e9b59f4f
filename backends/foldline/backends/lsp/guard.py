"""A process between foldline and one of its servers, so that nothing outlives foldline.

Run by path as `python guard.py LEASH COMMAND…`; standard library only, and POSIX only. The server
gets this process's standard streams, which the guard doesn't use. `LEASH` is a socket whose other
end foldline alone holds: its end, by whatever death, is the end of everything started here. The
server's pid is written to it.

The guard leads the process group of the server. On Linux it also adopts every descendant whose own
parent has ended, so that not even one that left the group survives.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
# A process that survives this long sleeps in the kernel, and cannot be killed.
_KILL_SECONDS = 5.0


def main() -> int:
    """Run the command until it ends or the leash does; the exit status is the command's."""
    leash, command = int(sys.argv[1]), sys.argv[2:]
    os.set_inheritable(leash, False)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    wake_reader, wake_writer = os.pipe()
    for end in (wake_reader, wake_writer):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake_writer, warn_on_full_buffer=False)
    # Without a handler SIGCHLD wakes nothing. SIGTERM is for the server: the guard ends after it.
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: None)
    guard = os.getpid()
    server = os.fork()
    if server == 0:
        _become(command, guard)
    _let_go_of_streams()
    with contextlib.suppress(OSError):
        os.write(leash, b"%d\n" % server)
    status = _wait(server, leash, wake_reader)
    _kill_everything()
    if status is None:
        return 1
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        _die_of(-code)
    return code


def _become(command: list[str], guard: int) -> None:
    """Turn this fresh process into the server."""
    try:
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != guard:
            os._exit(1)
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        # Python ignores it, and ignored signals stay ignored in the new program.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.execvp(command[0], command)
    except OSError as error:
        os.write(2, f"{command[0]} cannot be started: {error}\n".encode())
    finally:
        os._exit(127)


def _let_go_of_streams() -> None:
    """Close our copies of the streams, so that they end with the server."""
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)
    os.close(null)


def _wait(server: int, leash: int, wake: int) -> int | None:
    """The exit status of the server, or None when the leash ended first."""
    while True:
        # Adopted processes end here too; all are reaped.
        with contextlib.suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == server:
                    return ended[1]
        readable, _, _ = select.select([leash, wake], [], [])
        if leash in readable and not _read(leash):
            return None
        if wake in readable:
            _read(wake)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1 << 12)
    except BlockingIOError:
        return b"?"
    except OSError:
        return b""


def _kill_everything() -> None:
    """Kill every descendant; each death hands the guard its orphans, until none is left."""
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        children = _children()
        if children is None:
            # The group holds the guard itself; it is done but for this.
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.killpg(0, signal.SIGKILL)
        for child in children or ():
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            os.waitpid(-1, 0 if children else os.WNOHANG)
        except ChildProcessError:
            return


def _children() -> list[int] | None:
    """The pids of the guard's children, or None where the system does not list them."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as listing:  # noqa: PTH123
            return [int(pid) for pid in listing.read().split()]
    except OSError:
        return None


def _die_of(number: int) -> None:
    """End as the server ended, so that foldline sees the signal."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _prctl(option: int, value: int) -> None:
    """Call Linux's prctl; elsewhere nothing happens."""
    if not sys.platform.startswith("linux"):
        return
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(main())
