"""A store of facts to be asked."""

from types import SimpleNamespace

import pytest

from agentlas_memory.deadline import Deadline
from agentlas_memory.ontology.ledger import Ledger
from agentlas_memory.ontology.projection import project_ledger
from agentlas_memory.ontology.store import open_store
from agentlas_memory.runtime import OntologyRuntime

AGENT = "hub:ledger-keeper"


@pytest.fixture(autouse=True)
def data_home(one_data_home):
    """No test here changes what lies in it."""


@pytest.fixture
def facts(tmp_path):
    """Take in texts, each under its position or name, and return the runtime."""

    def make(*texts, scope="internal", **named):
        runtime = OntologyRuntime(tmp_path / "facts.sqlite")
        records = [(str(number), text) for number, text in enumerate(texts)]
        runtime.ingest_records([*records, *named.items()], scope=scope)
        return runtime

    return make


class Learned:
    """An agent's experience that answers like a project's store."""

    def __init__(self, path, texts):
        ledger = Ledger()
        for name, text in texts:
            ledger.apply({"id": name, "text": text})
        project_ledger(ledger, AGENT, path)
        self._runtime = OntologyRuntime(path)

    def query(self, question, **options):
        found = self._runtime.query(question, agent_id=AGENT, token_budget=2000, **options)
        return SimpleNamespace(hits=found.experience, retrieval=found.retrieval)

    def explain(self, question):
        return self._runtime.explain_experience(question, AGENT)


@pytest.fixture(scope="session")
def learn():
    """Let an agent learn (id, text) pairs in a database of this path."""
    return Learned


@pytest.fixture
def lessons(tmp_path, learn):
    """The same as `facts` for an agent."""

    def make(*texts, **named):
        pairs = [(str(number), text) for number, text in enumerate(texts)]
        return learn(tmp_path / "experience.sqlite", [*pairs, *named.items()])

    return make


@pytest.fixture
def opened(tmp_path):
    """Open the store that `facts` made."""
    stores = []

    def open_it():
        stores.append(open_store(str(tmp_path / "facts.sqlite"), Deadline(60_000)))
        return stores[-1]

    yield open_it
    for store in stores:
        store.close()


@pytest.fixture
def project(tmp_path):
    """A project folder: write files by their paths, then index them."""
    return Project(tmp_path / "project")


class Project:
    def __init__(self, root):
        self.root = root
        (root / ".agentlas").mkdir(parents=True)
        self.runtime = OntologyRuntime(root / ".agentlas/ontology-runtime.sqlite")

    def index(self, files=None):
        from agentlas_memory.ontology.index import index_project

        for path, text in (files or {}).items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        return index_project(self.root)

    def sources_of(self, question, **options):
        return [hit.source for hit in self.runtime.query(question, **options).hits]


def pytest_make_parametrize_id(val):
    """Name a long prompt by its beginning."""
    return f"{val[:40]}" if isinstance(val, str) and len(val) > 40 else None
