"""Drive Antigravity's engine through its SDK, as a program of its own: a job on stdin, JSON out.

The job: `port` of the model server, `workspaces`, `prompts`, `folder` for its conversations; on
request `resume` (a conversation's id) and `compact_at` (tokens). Each prompt is answered by a line
with `reply` or `failed`; the last line has `conversation`.

The SDK leaves hooks from files off. The engine has a switch for them that is no part of the SDK's
interface: it is added to the first message, for tests of this version alone.
"""

import asyncio
import json
import sys
from types import SimpleNamespace

from google.antigravity import Agent, LocalAgentConfig, types
from google.antigravity.connections.local import local_connection
from google.antigravity.hooks import policy
from google.protobuf import json_format

SWITCH = "[jetski_prod.localharness.cascade_config_hillclimbing_override]"
HOOKS_ON = {
    "cascadeConfig": {
        "plannerConfig": {
            "customizationConfig": {"enableJsonHooks": True},
            "customizationDiscoveryConfig": {
                "hooks": {"inheritUser": True},
                "plugins": {"inheritUser": True},
            },
        }
    }
}


def with_hooks(message, *arguments, **options):
    """Return a message as JSON, with the switch in the one that begins a conversation."""
    text = json_format.MessageToJson(message, *arguments, **options)
    if type(message).__name__ != "InitializeConversationEvent":
        return text
    data = json.loads(text)
    data["config"][SWITCH] = HOOKS_ON
    return json.dumps(data)


def configuration(job):
    """Return the agent's configuration: a mock model, all tools allowed."""
    endpoint = types.GeminiAPIEndpoint(api_key="none", base_url=f"http://127.0.0.1:{job['port']}")
    kinds = [types.ModelType.TEXT, types.ModelType.IMAGE]
    more = {}
    if "resume" in job:
        more["conversation_id"] = job["resume"]
        more["session_continuation_mode"] = types.SessionContinuationMode.RESUME
    if "compact_at" in job:
        more["compaction_config"] = types.CompactionConfig(token_threshold=job["compact_at"])
    return LocalAgentConfig(
        models=[types.ModelTarget(name="gemini-3-flash-preview", endpoint=endpoint, types=kinds)],
        api_key="none",
        workspaces=job["workspaces"],
        save_dir=job["folder"],
        policies=[policy.allow_all()],
        **more,
    )


def say(**line):
    """Print one line of the answer."""
    print(json.dumps(line), flush=True)


async def main(job):
    """Say each prompt in one conversation."""
    async with Agent(configuration(job)) as agent:
        for prompt in job["prompts"]:
            try:
                say(reply=await (await agent.chat(prompt)).text())
            except Exception as error:  # a turn that fails is a result
                say(failed=f"{type(error).__name__}: {error}")
        say(conversation=agent.conversation_id)


if __name__ == "__main__":
    local_connection.json_format = SimpleNamespace(
        **{name: getattr(json_format, name) for name in dir(json_format) if name[0] != "_"}
        | {"MessageToJson": with_hooks}
    )
    asyncio.run(asyncio.wait_for(main(json.load(sys.stdin)), 120))
