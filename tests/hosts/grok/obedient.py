"""Answers of a model that does what the pointer says, with what its request holds alone."""

import json
import re

from hosts.model_server import ANSWER


def obey(*, index_known=False):
    """Return the script of one turn: read the index, read this workspace's entry, answer."""
    return [read_entry if index_known else read_index, *([] if index_known else [read_entry]), end]


def read_index(request):
    """Call for the file that the pointer names."""
    return "read_file", {"target_file": index_path(request)}


def read_entry(request):
    """Call for the entry whose key is the workspace path; end where the index has none."""
    index = [text for text in tool_results(request) if text.startswith("{")][-1]
    file = json.loads(index).get(workspace_path(request))
    return ("read_file", {"target_file": file}) if file else ANSWER


def end(_request):
    """Answer."""
    return ANSWER


def texts(request, role=None):
    """Return the texts of a request's messages."""
    found = []
    for message in request["messages"]:
        content = message.get("content") or ""
        parts = content if isinstance(content, list) else [{"text": content}]
        if role in (None, message["role"]):
            found.append("".join(part.get("text", "") for part in parts))
    return found


def workspace_path(request):
    """Return the path that the model is told."""
    return re.search(r"^Workspace Path: (.*)$", "\n".join(texts(request)), re.MULTILINE)[1]


def index_path(request):
    """Return the file that the pointer names."""
    return json.loads(
        re.search(r"Once per session, read (\".*?[^\\]\")", "".join(texts(request)))[1]
    )


def tool_results(request):
    """Return what tools answered, without line numbers."""
    return [re.sub(r"(?m)^ *\d+→", "", text) for text in texts(request, "tool")]
