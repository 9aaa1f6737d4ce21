// What the plugin sees of OpenCode: its hooks are called as the program calls them.

import { existsSync, readFileSync } from "node:fs"

export const MAIN = "You are opencode, an interactive CLI tool"

export async function start(file, { directory = "/work/ledger", parents = {} } = {}) {
  const { AgentlasMemory } = await import(file)
  const get = async ({ path }) => ({ data: { parentID: parents[path.id] } })
  const client = { session: { get: async (options) => get(options) } }
  const hooks = await AgentlasMemory({ client, directory })
  let count = 0
  return {
    hooks,
    client,
    event: (type, properties) => hooks.event({ event: { type, properties } }),
    prompt: (sessionID, text, ...more) => {
      const parts = [{ type: "text", text }, ...more]
      return hooks["chat.message"]({ sessionID }, { message: { id: `msg_${++count}` }, parts })
    },
    system: async (sessionID, ...system) => {
      if (!system.length) system.push(MAIN)
      await hooks["experimental.chat.system.transform"]({ sessionID, model: {} }, { system })
      return system
    },
    messages: async (sessionID, ...texts) => {
      const messages = texts.map((text, n) => ({
        info: { id: `msg_${n}`, sessionID, role: n % 2 ? "assistant" : "user" },
        parts: [{ type: "text", text }],
      }))
      await hooks["experimental.chat.messages.transform"]({}, { messages })
      return messages.map((message) => message.parts.map((part) => part.text))
    },
    compacting: async (sessionID, ...context) => {
      const output = { context, prompt: undefined }
      await hooks["experimental.session.compacting"]({ sessionID }, output)
      return output.context
    },
  }
}

export async function seconds(act) {
  const began = performance.now()
  await act()
  return (performance.now() - began) / 1000
}

export const pause = () => new Promise((resolve) => setTimeout(resolve, 5))

// The words of a file, once it is there.
export async function contents(file) {
  while (!existsSync(file)) await pause()
  return readFileSync(file, "utf8").trim().split(/\s+/)
}

export function alive(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}
