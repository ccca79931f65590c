// Vademecum for Pi: tells vade what happens, and the model what vade knows.
// It needs nothing but the program vade; "vade setup" writes its path here.
import { spawn } from "node:child_process"

const program = "vade"

// hook runs "vade hook pi EVENT" with payload as its input and returns what it
// prints. Whatever goes wrong, it returns "" within two seconds.
const hook = (event, payload) =>
  new Promise((done) => {
    let out = ""
    const finish = (text) => {
      clearTimeout(timer)
      done(text)
    }
    const child = spawn(program, ["hook", "pi", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
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

// payload is what vade is told of an event; the system prompt is none of its business.
const payload = (event, ctx, more) => ({
  cwd: ctx.cwd,
  mode: ctx.mode,
  session_id: ctx.sessionManager?.getSessionId?.(),
  session_file: ctx.sessionManager?.getSessionFile?.(),
  event: { ...event, systemPrompt: undefined, systemPromptOptions: undefined, messages: undefined },
  ...more,
})

const said = (message) =>
  message?.role !== "assistant" ? "" : typeof message.content === "string" ? message.content
    : (message.content ?? []).filter((part) => part.type === "text").map((part) => part.text).join("\n")

export default function (pi) {
  let answer = "" // the last one of the turn
  for (const name of ["session_start", "tool_result", "session_compact", "session_shutdown"])
    pi.on(name, async (event, ctx) => void (await hook(name, payload(event, ctx))))
  pi.on("before_agent_start", async (event, ctx) => {
    answer = ""
    const text = await hook("before_agent_start", payload(event, ctx))
    if (text) return JSON.parse(text)
  })
  pi.on("agent_end", (event) => {
    answer = (event.messages ?? []).map(said).filter(Boolean).at(-1) ?? answer
  })
  pi.on("agent_settled", async (event, ctx) => void (await hook("agent_settled", payload(event, ctx, { text: answer }))))
}
