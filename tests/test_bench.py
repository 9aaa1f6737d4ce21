"""The measuring commands: what they report, never how fast this machine is."""

import json
import subprocess
import sys
from dataclasses import astuple
from pathlib import Path

import pytest

from agentlas_memory.bench.corpus import UnreadableData, make_chunks, read_corpora
from agentlas_memory.bench.index_bench import write_documents
from agentlas_memory.bench.installation import NotInstalled, installed_program
from agentlas_memory.bench.processes import Runner, run_tree
from agentlas_memory.bench.quality import read_set
from agentlas_memory.bench.retrieval_bench import score

SUBJECTS = ("ledger", "parser", "server", "plugin", "release", "cache", "schema", "login")


@pytest.fixture
def data(tmp_path):
    """Two sets: one by document with long texts, one of short rows without titles."""
    long = [
        {"id": f"{s}#{n}", "doc": s, "title": f"{s} part {n}", "text": f"the {s} keeps {n} " * 60}
        for s in SUBJECTS
        for n in range(3)
    ]
    write_set(tmp_path / "data" / "long", long)
    write_set(tmp_path / "data" / "short", [{"id": s, "text": f"{s} is done"} for s in SUBJECTS])
    return tmp_path / "data"


def write_set(folder, rows):
    folder.mkdir(parents=True)
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def bench(program, *words):
    answer = subprocess.run([program, "bench", *words, "--json"], capture_output=True, text=True)
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def test_a_row_that_has_a_document_is_right_by_either_name(tmp_path):
    (tmp_path / "corpus.jsonl").write_text('{"id": "a#1", "doc": "a", "text": "Quokkas hop."}\n')
    (tmp_path / "queries.jsonl").write_text('{"id": "q", "text": "quokkas"}\n')
    for unit in ("a", "a#1"):
        (tmp_path / "qrels.tsv").write_text(f"q\t{unit}\t1\n")
        assert read_set(tmp_path).right == {"q": frozenset({"a"})}


def test_a_folder_of_sets_is_read_as_one(data):
    together = [text.id for text in read_corpora(data)]
    assert together == [text.id for name in ("long", "short") for text in read_corpora(data / name)]


@pytest.mark.parametrize(
    "content",
    ["", "{}\n", "no json\n", '["a"]\n'],
    ids=["empty", "no text", "no JSON", "a list"],
)
def test_data_in_another_format_is_refused(tmp_path, content):
    (tmp_path / "corpus.jsonl").write_text(content)
    with pytest.raises(UnreadableData, match=r"corpus\.jsonl"):
        read_corpora(tmp_path)


def test_chunks_beyond_the_data_are_all_different(data):
    chunks = make_chunks(read_corpora(data), 500)
    assert len(chunks) == 500
    assert len({chunk.id for chunk in chunks}) == 500
    assert len({chunk.text for chunk in chunks}) > 450


def test_the_same_data_make_the_same_chunks(data):
    texts = read_corpora(data)
    assert make_chunks(texts, 200) == make_chunks(texts, 200)


def test_documents_hold_every_chunk(data, tmp_path):
    chunks = make_chunks(read_corpora(data), 40)
    size = write_documents(tmp_path / "docs", chunks)
    pages = [file.read_text() for file in sorted((tmp_path / "docs").iterdir())]
    assert "".join(pages).count("\n## ") == 40
    assert size == sum(len(page.encode()) for page in pages)


def test_a_program_that_is_not_there_is_not_measured():
    with pytest.raises(NotInstalled, match="is missing"):
        installed_program("agentlas-memory-nothing")


def test_a_small_process_is_not_charged_with_our_memory():
    ballast = bytearray(200 << 20)
    with Runner(sys.executable) as runner:
        run = runner.run([sys.executable, "-I", "-S", "-c", "print(1)"], {}, Path("/"))
    assert run.stdout == b"1\n"
    assert 1 < run.peak_mib < 100 < len(ballast) >> 20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="sums over a tree need /proc")
def test_workers_count_into_the_peak_of_a_tree(tmp_path):
    hold = "import time; held = bytearray(150 << 20); time.sleep(0.5)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {hold!r}])"
    run = run_tree([sys.executable, "-c", code], {}, tmp_path, tmp_path / "output")
    assert run.peak_mib > 150


@pytest.mark.slow
def test_bench_hook_reports_ratios(program, launcher, data):
    report = bench(program, "hook", "--data", data, "--chunks", "60", "--runs", "1")
    assert (report["chunks"], report["prompts"], report["runs"]) == (60, 10, 1)
    assert report["launcher"] == str(launcher)
    assert 1 < report["ratio"] <= report["p95_ratio"]
    assert report["no_marker_ratio"] < report["ratio"]
    assert 0 < report["bare_ms"] < report["ms"]
    assert 5 < report["peak_mib"] < 500
    assert 0 <= report["delivered"] <= 1
    assert {"project", "open", "lexical"} <= set(report["stages"])


@pytest.mark.slow
def test_bench_index_reports_rates(program, data):
    report = bench(program, "index", "--data", data, "--chunks", "60")
    assert report["chunks"] >= report["sources"] > 1
    assert report["chunks_per_s"] > 0
    assert report["mb_per_s"] == pytest.approx(report["source_mb"] / report["seconds"], rel=0.2)
    assert report["store_ratio"] > 0
    assert report["peak_mib"] > 10
    assert report["peak_mib_at_10000"] is None
    assert report["second_run_seconds"] > 0


def test_bench_tells_what_is_wrong_with_the_data(program, tmp_path):
    words = [program, "bench", "hook", "--data", tmp_path, "--chunks", "5"]
    answer = subprocess.run(words, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "corpus.jsonl" in answer.stderr


@pytest.fixture
def judged(tmp_path):
    """Two projects with a fact each, a question to each, and a prompt about neither."""
    facts = {
        "a:ledger": "We settle the ledger in integer minor units because floats lose cents.",
        "b:cluster": "The blue cluster is drained before every rollout of the gateway.",
    }
    write_set(tmp_path / "set", [{"id": name, "text": text} for name, text in facts.items()])
    questions = {
        "q1": "why do we settle the ledger in integer minor units?",
        "q2": "is the blue cluster drained before a rollout of the gateway?",
    }
    rows = [{"id": name, "text": text, "split": "dev"} for name, text in questions.items()]
    (tmp_path / "set/queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "set/qrels.tsv").write_text("q1\ta:ledger\t1\nq2\tb:cluster\t2\nq2\ta:ledger\t0\n")
    (tmp_path / "prompts.tsv").write_text("# none deserves an answer\nack\tthanks\nchore\trun it\n")
    return tmp_path


def test_retrieval_is_measured_by_question(program, judged):
    report = bench(program, "retrieval", "--data", judged / "set", "--no-gate")
    assert [report[f"recall@{depth}"] for depth in (1, 5, 10)] == [1, 1, 1]
    assert (report["ndcg@10"], report["mrr@10"], report["hit@5"], report["queries"]) == (1, 1, 1, 2)


def test_silence_is_measured_by_store(program, judged):
    report = bench(
        program, "silence", "--data", judged / "set", "--queries", judged / "prompts.tsv"
    )
    assert (report["stores"], report["answered"], report["kept"]) == (2, 0, 1)
    assert report["by_category"] == {"ack": 0, "chore": 0}
    assert report["other_project"] == {"mean": 0, "by_project": {"a": 0, "b": 0}}
    assert report["tokens"] == {"median": 0, "p95": 0}


@pytest.mark.parametrize(
    ("ranked", "right", "expected"),
    [
        ("abc", "a", (1, 1, 1, 1.0, 1.0, 1)),
        ("xa", "a", (0, 1, 1, 0.6309, 0.5, 1)),
        ("xa", "ab", (0, 0.5, 0.5, 0.3869, 0.5, 1)),
        ("uvwxya", "a", (0, 0, 1, 0.3562, 1 / 6, 0)),
        ("", "a", (0, 0, 0, 0, 0, 0)),
    ],
)
def test_a_ranking_is_scored_as_the_field_does(ranked, right, expected):
    assert astuple(score(list(ranked), frozenset(right))) == pytest.approx(expected, abs=1e-4)


def test_a_set_without_questions_is_refused(program, data):
    words = [program, "bench", "retrieval", "--data", data / "long"]
    answer = subprocess.run(words, capture_output=True, text=True)
    assert answer.returncode == 1
    assert "queries.jsonl" in answer.stderr
