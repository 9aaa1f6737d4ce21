"""Answers in the form of chat completions, which OpenCode and Grok ask for."""

import json


def stream_of(answer, number, tokens=10):
    """Yield a streamed answer: its role, its content, its end, its cost.

    An answer is a text, or `(tool, arguments)` for a call.
    """
    message, reason = message_of(answer, number)
    role = {"role": message.pop("role")}
    for delta, finish in ((role, None), (message, None), ({}, reason)):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        yield _envelope("chat.completion.chunk", number, choices=[choice])
    yield _envelope("chat.completion.chunk", number, choices=[], usage=usage_of(tokens))
    yield "[DONE]"


def whole_of(answer, number, tokens=10):
    """Return an answer in one piece."""
    message, reason = message_of(answer, number)
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return _envelope("chat.completion", number, choices=[choice], usage=usage_of(tokens))


def message_of(answer, number):
    """Return the message that an answer is, and why it ends."""
    if isinstance(answer, str):
        return {"role": "assistant", "content": answer}, "stop"
    tool, arguments = answer
    function = {"name": tool, "arguments": json.dumps(arguments)}
    call = {"index": 0, "id": f"call_{number}", "type": "function", "function": function}
    return {"role": "assistant", "tool_calls": [call]}, "tool_calls"


def usage_of(tokens):
    return {"prompt_tokens": tokens, "completion_tokens": 10, "total_tokens": tokens + 10}


def _envelope(kind, number, **fields):
    return {"id": f"answer-{number}", "object": kind, "created": 1, "model": "mock", **fields}
