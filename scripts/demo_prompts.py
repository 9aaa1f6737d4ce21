"""Send the hook two prompts as Claude Code would, and show what each is answered with."""

import json
import subprocess
import sys
import time

QUESTION = "how many characters may a snippet in the capsule have?"
SMALL_TALK = "thanks"


def ask(launcher: str, project: str, prompt: str) -> bytes:
    """Print a prompt with the hook's answer and time; return the answer's bytes."""
    event = {
        "hook_event_name": "UserPromptSubmit",
        "session_id": f"demo-{time.time_ns()}",
        "cwd": project,
        "prompt": prompt,
    }
    start = time.perf_counter()
    answer = subprocess.run(
        [launcher, "--host", "claude", "--event", "UserPromptSubmit"],
        input=json.dumps(event).encode(),
        stdout=subprocess.PIPE,
        check=True,
    ).stdout
    milliseconds = (time.perf_counter() - start) * 1000
    print(f"\n== prompt: {prompt}\n{len(answer)} bytes in {milliseconds:.0f} ms")
    if answer:
        print(json.loads(answer)["hookSpecificOutput"]["additionalContext"])
    return answer


def main(launcher: str, project: str) -> int:
    """Return 0 when the question was answered and the small talk was not."""
    answered = ask(launcher, project, QUESTION)
    silent = not ask(launcher, project, SMALL_TALK)
    return 0 if answered and silent else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
