"""The corpus of public prompts, which `tests/benchmarks/adopt_corpus.py` fetches and adopts."""

import re
from collections import Counter

from ...benchmarks.adopt_corpus import BEGIN, END, PAGE, entries


def test_the_corpus_has_many_prompts_of_many_projects_and_each_shape() -> None:
    corpus = entries()
    assert len(corpus) >= 120
    assert len({entry.repo for entry in corpus}) >= 40
    assert len({(entry.repo, entry.path, entry.name) for entry in corpus}) == len(corpus)
    few = [shape for shape, count in Counter(entry.shape for entry in corpus).items() if count < 3]
    assert few == []


def test_each_prompt_is_an_address_and_an_expectation() -> None:
    for entry in entries():
        assert re.fullmatch(r"[\w.-]+/[\w.-]+", entry.repo)
        assert re.fullmatch(r"[0-9a-f]{40}", entry.commit)
        assert re.match(r"(same|asks)$|(differs|refused): .", entry.expect), entry


def test_the_page_shows_the_shapes_of_the_corpus() -> None:
    block = PAGE.read_text("utf-8").partition(BEGIN)[2].partition(END)[0]
    rows = re.findall(r"^\| ([^|*]+?) \| (\d+) \|", block, re.M)
    counts = Counter(entry.shape for entry in entries())
    assert {shape: int(count) for shape, count in rows} == counts
