// agentlas-memory: asks the local memory hook at each prompt and hands its answer to the model.
// Put here by `agentlas-memory install`; `agentlas-memory uninstall` takes it away again.
//
// OpenCode awaits every hook without a limit and ends the turn where one throws, so each hook below
// is caught, and waits only for a promise that never rejects and settles within LIMIT_MS. Every
// exported function counts as a plugin: this file exports one.
import { spawn } from "node:child_process"
import { readFileSync, statSync } from "node:fs"

// Paths on this machine, which `install` puts in.
const HOOK = {hook}
const SETTINGS = {settings}
const LIMIT_MS = 12_000 // the hook ends by itself much earlier
const CLOSING = "\n</agentlas-memory-context>"
const LARGEST = 16 * 1024 // bytes; a capsule has 9,000 at most

// What other agents' requests begin with, in versions 1.1 to 1.18: nothing else tells them from a
// person's. A prompt of the person's own for these agents is in the configuration.
const OTHER_AGENTS = ["title", "compaction", "summary"]
const OTHER_CALLS = [
  "You are a title generator",
  "You are a helpful AI assistant tasked with summarizing",
  "You are an anchored context summarization assistant",
  "You are a context summarization agent",
]

// A module lives as long as the process and serves all its directories; state belongs to one
// instance, so all of it is in here.
export const AgentlasMemory = async ({ client, directory }) => {
  if (process.env.AGENTLAS_MEMORY_CHILD) return {} // started by ourselves
  const turns = new Map() // session -> the recall for its newest prompt
  const subagents = new Map() // session -> whether another session started it
  let otherCalls = OTHER_CALLS

  const isSubagent = async (id) =>
    subagents.get(id) ?? Boolean((await client.session.get({ path: { id } })).data?.parentID)

  const forget = (id) => {
    turns.get(id)?.stop()
    turns.delete(id)
  }

  return {
    config: quietly((config) => {
      const own = OTHER_AGENTS.map((name) => config.agent?.[name]?.prompt)
      otherCalls = [...OTHER_CALLS, ...own.filter((prompt) => prompt?.trim())]
    }),

    // The recall starts here and is not awaited: the host works on meanwhile.
    "chat.message": quietly(({ sessionID }, { message, parts }) => {
      forget(sessionID)
      const typed = parts.filter((part) => part.type === "text" && !part.synthetic && !part.ignored)
      const prompt = typed.map((part) => part.text).join("\n")
      if (!prompt.trim()) return
      const ask = async () => {
        const subagent = await isSubagent(sessionID).catch(() => false)
        return { cwd: directory, prompt, session: sessionID, message: message.id, subagent }
      }
      turns.set(sessionID, { ...recall(ask), slot: chosenSlot() })
    }),

    // Runs for every model call of the turn, a retry and a step after a tool among them.
    "experimental.chat.system.transform": quietly(async ({ sessionID }, { system }) => {
      const turn = turns.get(sessionID)
      if (turn?.slot !== "system") return
      if (otherCalls.some((beginning) => system[0]?.startsWith(beginning))) return
      const text = await turn.text
      if (!text || system.some((entry) => entry.includes(text))) return
      // Some backends take only one system message, so ours is no entry of its own.
      system.push([system.pop(), text].filter(Boolean).join("\n\n"))
    }),

    // As above, but not for a title. What is changed here is not stored.
    "experimental.chat.messages.transform": quietly(async (_, { messages }) => {
      const at = messages.findLastIndex((message) => message.info.role === "user")
      const { info, parts } = messages[at]
      const turn = turns.get(info.sessionID)
      if (turn?.slot !== "message") return
      if (turn.compacting) return void (turn.compacting = false)
      const text = await turn.text
      if (!text || parts.some((part) => part.text?.includes(text))) return
      // Some backends take text alone and no list of parts, so it is appended to the last text; to
      // a copy, since the request for a title may still be reading the message itself.
      const last = parts.findLastIndex((part) => part.type === "text" && !part.ignored && part.text)
      const part = { ...parts[last], text: `${parts[last].text}\n\n${text}` }
      messages[at] = { ...messages[at], parts: parts.with(last, part) }
    }),

    // The summary is made from the conversation, which does not hold the capsule.
    "experimental.session.compacting": quietly(async ({ sessionID }, { context }) => {
      const turn = turns.get(sessionID)
      if (!turn) return
      turn.compacting = true // what is transformed next are the summarizer's messages
      const text = await turn.text
      if (text && !context.includes(text)) context.push(text)
    }),

    event: quietly(({ event }) => {
      const { sessionID, info } = event.properties ?? {}
      const id = info?.id ?? sessionID
      if (event.type === "session.created") subagents.set(id, Boolean(info?.parentID))
      // Versions that transform no messages for a summary (1.1) have come to its end here.
      if (event.type === "session.compacted" && turns.has(id)) turns.get(id).compacting = false
      if (event.type !== "session.deleted") return
      forget(id)
      subagents.delete(id)
    }),

    // The host waits for this before it ends.
    dispose: quietly(() => {
      for (const id of [...turns.keys()]) forget(id)
      subagents.clear()
    }),
  }
}

function quietly(hook) {
  return async (input, output) => {
    try {
      await hook(input, output)
    } catch {} // a prompt is worth more than what is known about it
  }
}

function chosenSlot() {
  try {
    if (statSync(SETTINGS).isFile()) { // a pipe would be waited for
      const settings = JSON.parse(readFileSync(SETTINGS, "utf8").replace(/^\uFEFF/, ""))
      if (settings["opencode.slot"] === "system") return "system"
    }
  } catch {}
  return "message" // a prompt cache ends at the first change, and the system prompt comes first
}

// Returns `text`, a promise of the capsule or of "", and `stop`, which ends the hook at once.
function recall(ask) {
  let settle
  let child
  let over = false
  const text = new Promise((resolve) => (settle = resolve))
  const finish = (answer) => {
    over = true
    clearTimeout(timer)
    settle(answer)
  }
  const stop = () => {
    finish("")
    if (child) kill(child)
    child = undefined
  }
  const timer = setTimeout(stop, LIMIT_MS)
  ask().then((question) => {
    if (over) return
    child = start(question, stop, (answer) => {
      child = undefined
      finish(answer)
    })
  }).catch(stop)
  return { text, stop }
}

function start(question, stop, finish) {
  const child = spawn(...program(), { stdio: ["pipe", "pipe", "ignore"], ...groupOrNoWindow() })
  const chunks = []
  let bytes = 0
  child.on("error", () => finish("")) // there is no such program
  child.stdin.on("error", () => {}) // it did not read its question to the end
  child.stdout.on("error", () => {})
  child.stdout.on("data", (chunk) => {
    bytes += chunk.length
    if (bytes > LARGEST) return stop()
    chunks.push(chunk)
  })
  child.on("close", (code) => finish(code === 0 ? capsuleIn(Buffer.concat(chunks)) : ""))
  child.stdin.end(JSON.stringify(question)) // never an argument: those are short, and public
  return child
}

// Windows runs a .cmd by its shell alone, whose quotes are not those of other programs.
function program() {
  const argv = ["--host", "opencode", "--event", "chat.message"]
  if (process.platform !== "win32") return [HOOK, argv]
  return [process.env.ComSpec || "cmd.exe", ["/d", "/s", "/c", `""${HOOK}.cmd" ${argv.join(" ")}"`]]
}

// A process group of its own, so that what the hook starts can be ended with it; on Windows that
// would be a console of its own, and a window.
function groupOrNoWindow() {
  if (process.platform !== "win32") return { detached: true }
  return { windowsHide: true, windowsVerbatimArguments: true }
}

// A capsule from its first byte to its last, or "": a warning in it is no evidence.
function capsuleIn(bytes) {
  const text = new TextDecoder().decode(bytes)
  const closed = text.indexOf(CLOSING) === text.length - CLOSING.length
  return closed && /^<agentlas-memory-context [^<>]*>\n/.test(text) ? text : ""
}

function kill(child) {
  try {
    process.kill(-child.pid, "SIGKILL")
  } catch {
    child.kill("SIGKILL") // Windows has no process groups
  }
  child.stdout.destroy() // whoever left the group may hold the other end
}
