"""Which sentences the conformance tests of a host can report, read from their source.

A sentence is a pattern where a test puts something into it that only its run knows.
"""

import ast
import importlib.util
import inspect
import itertools
import re
from pathlib import Path

FOLDER = Path(__file__).parent
_RECORDERS = ("holds", "not_applicable")


def patterns_of(host):
    """Return a regular expression for each sentence, for each case of each test."""
    found = set()
    for file in sorted((FOLDER / host).glob("test_*.py")):
        module = _load(file)
        marks = getattr(module, "pytestmark", [])
        marks = marks if isinstance(marks, list) else [marks]
        if any(mark.name == "conformance" for mark in marks):
            for name, function in vars(module).items():
                if name.startswith("test_"):
                    for case in _cases(function):
                        found.update(_sentences(function, case))
    return found


def _load(file):
    spec = importlib.util.spec_from_file_location(f"known_{file.parent.name}_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _cases(function):
    """Yield the values that a test is run with, one dictionary a case."""
    tables = []
    for mark in getattr(function, "pytestmark", []):
        if mark.name == "parametrize":
            names, values = mark.args
            if isinstance(names, str):
                tables.append([{names: value} for value in values])
            else:
                tables.append([dict(zip(names, row, strict=True)) for row in values])
    for parts in itertools.product(*tables):
        yield {name: value for part in parts for name, value in part.items()}


def _sentences(function, known):
    """Yield the sentences of a function, and of those that it hands its recorder to."""
    tree = ast.parse(inspect.getsource(function)).body[0]
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        if node.func.id in _RECORDERS:
            yield _pattern(node.args[0], known)
        elif any(isinstance(one, ast.Name) and one.id in _RECORDERS for one in node.args):
            other = function.__globals__[node.func.id]
            yield from _sentences(other, _given(other, node, known))


def _given(function, call, known):
    """Return what is known inside a function of the arguments that it is called with."""
    given = {
        name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is not parameter.empty
    }
    for name, argument in zip(inspect.signature(function).parameters, call.args, strict=False):
        if isinstance(argument, ast.Name) and argument.id in known:
            given[name] = known[argument.id]
        elif isinstance(argument, ast.Constant | ast.JoinedStr):
            given[name] = _Pattern(_pattern(argument, known))
    return given


class _Pattern(str):
    """A text that is a regular expression already."""


def _pattern(node, known):
    if isinstance(node, ast.Constant):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(_pattern(part, known) for part in node.values)
    inner = node.value if isinstance(node, ast.FormattedValue) else node
    if not isinstance(inner, ast.Name) or inner.id not in known:
        return ".+"
    value = known[inner.id]
    if isinstance(value, _Pattern):
        return value
    repeated = isinstance(node, ast.FormattedValue) and node.conversion == ord("r")
    return re.escape(repr(value) if repeated else str(value))
