"""How much memory a server holds."""

from __future__ import annotations


def tree_memory(pid: int) -> int:
    """The resident bytes of the process and all its descendants; 0 where it has ended."""
    import psutil

    total = 0
    try:
        process = psutil.Process(pid)
        family = [process, *process.children(recursive=True)]
    except psutil.Error:
        return 0
    for member in family:
        try:
            total += int(member.memory_info().rss)
        except psutil.Error:
            continue  # It ended meanwhile.
    return total
