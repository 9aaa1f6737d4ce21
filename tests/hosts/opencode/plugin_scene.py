"""The plugin in a fake host under node, with a script in the hook's place."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentlas_memory.host_adapters.opencode.install_spec import plugin_text
from agentlas_memory.installer.surfaces import Place

NODE = shutil.which("node")
FAKE_HOST = Path(__file__).with_name("fake_host.mjs")
MAIN = "You are opencode, an interactive CLI tool"
CAPSULE = '<agentlas-memory-context version="1">\nunits are minor\n</agentlas-memory-context>'
ANSWER = f"printf %s '{CAPSULE}'\n"
LIMIT = "LIMIT_MS = 12_000"
SHORT = 0.6  # seconds, in place of twelve
# How most scripts begin.
PROMPT = "const host = await open(); await host.prompt('s1', 'which units?'); "

needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed")


class Scene:
    """A plugin in a home of its own, and a program in the hook's place."""

    def __init__(self, folder, limit=SHORT):
        self.place = Place(folder, folder / 'it\'s "our" home', {})
        self.asked = folder / "asked"
        self.plugin = folder / "agentlas-memory.mjs"  # node takes .js for CommonJS
        text = plugin_text(self.place)
        assert LIMIT in text
        self.plugin.write_text(text.replace(LIMIT, f"LIMIT_MS = {limit * 1000}"))
        self.settings('{"opencode.slot": "system"}')  # the shorter to look at

    def hook(self, script):
        """Put a shell script in the hook's place."""
        self.place.hook.parent.mkdir(parents=True, exist_ok=True)
        self.place.hook.write_text(f"#!/bin/sh\n{script}")
        self.place.hook.chmod(0o755)

    def recording_hook(self, script=ANSWER):
        """Put a script there that keeps its arguments and its question first."""
        self.asked.mkdir()
        self.hook(f"(echo \"$@\"; cat) > '{self.asked}'/$$\n{script}")

    def settings(self, text):
        self.place.data_home.mkdir(parents=True, exist_ok=True)
        (self.place.data_home / "settings.json").write_text(text)

    def arguments(self):
        return [file.read_text().partition("\n")[0] for file in self.asked.iterdir()]

    def questions(self):
        return [json.loads(file.read_text().partition("\n")[2]) for file in self.asked.iterdir()]

    def play(self, script, **environment):
        """Run JavaScript beside the plugin, `open` starting it, and return what it returns."""
        code = f"""
            import {{ alive, contents, pause, seconds, start }} from {json.dumps(str(FAKE_HOST))}
            const open = (options) => start({json.dumps(str(self.plugin))}, options)
            const result = await (async () => {{ {script} }})()
            console.log(JSON.stringify(result ?? null))
        """
        command = [NODE, "--input-type=module", "-e", code]
        options = {"env": os.environ | environment, "cwd": self.plugin.parent, "timeout": 30}
        run = subprocess.run(command, capture_output=True, text=True, **options)
        assert (run.returncode, run.stderr) == (0, "")
        return json.loads(run.stdout)
