// Vademecum for OpenCode: tells vade what happens, and the model what vade knows.
// It needs nothing but the program vade; "vade setup" writes its path here.
import { spawn } from "node:child_process"

const program = "vade"

// hook runs "vade hook opencode EVENT" with payload as its input and returns
// what it prints. Whatever goes wrong, it returns "" within two seconds.
const hook = (event, payload) =>
  new Promise((done) => {
    let out = ""
    const finish = (text) => {
      clearTimeout(timer)
      done(text)
    }
    const child = spawn(program, ["hook", "opencode", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
    const timer = setTimeout(() => {
      child.kill()
      finish("")
    }, 2000)
    child.stdout.setEncoding("utf8").on("data", (text) => (out += text))
    child.stdin.on("error", () => {})
    child.on("error", () => finish(""))
    child.on("close", () => finish(out))
    child.stdin.end(JSON.stringify(payload))
  })

// Bus events that are told; OpenCode's bus does not wait for them.
const told = new Set(["session.created", "session.idle", "session.compacted"])

export const Vade = async ({ directory }) => {
  const running = new Set()
  const answers = new Map() // session → last text of the model's
  const tell = (event, payload) => {
    const run = hook(event, { cwd: directory, ...payload }).finally(() => running.delete(run))
    running.add(run)
    return run
  }
  return {
    event: async ({ event }) => {
      if (!told.has(event.type)) return
      const session = event.properties?.sessionID
      const text = event.type === "session.idle" ? answers.get(session) : undefined
      if (text !== undefined) answers.delete(session)
      void tell("event." + event.type, { ...event, text })
    },
    "chat.message": async (input, output) => {
      const answer = await tell("chat.message", { input, output })
      if (!answer) return
      const { context } = JSON.parse(answer)
      const { id: messageID, sessionID } = output.message
      const id = "prt_" + messageID.slice(messageID.indexOf("_") + 1) + "vade"
      output.parts.push({ id, sessionID, messageID, type: "text", text: context, synthetic: true })
    },
    "tool.execute.after": async (input, output) => void tell("tool.execute.after", { input, output }),
    "experimental.text.complete": async (input, output) => {
      answers.set(input.sessionID, output.text)
      await tell("experimental.text.complete", { input, output })
    },
    "experimental.session.compacting": async (input) => void tell("experimental.session.compacting", { input }),
    dispose: async () => void (await Promise.all(running)),
  }
}
