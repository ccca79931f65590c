// Vademecum for Cline: tells vade what happens, and the model what vade knows.
// It needs nothing but the program vade; "vade setup" writes its path here.
import { spawn } from "node:child_process"

const program = "vade"

// hook runs "vade hook cline EVENT" with payload as its input and returns what
// it prints. Whatever goes wrong, it returns "" within two seconds.
const hook = (event, payload) =>
  new Promise((done) => {
    let out = ""
    const finish = (text) => {
      clearTimeout(timer)
      done(text)
    }
    const child = spawn(program, ["hook", "cline", event], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
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

// session is Cline's id of the session, under which it keeps it itself.
let session

export default {
  name: "vade",
  manifest: { capabilities: ["hooks"] },
  setup(api, context) {
    session = context?.session?.sessionId
  },
  hooks: {
    async beforeRun({ snapshot }) {
      const answer = await hook("plugin.beforeRun", { cwd: process.cwd(), session_id: session, snapshot })
      return answer ? JSON.parse(answer) : undefined
    },
    async afterRun({ snapshot, result }) {
      await hook("plugin.afterRun", { cwd: process.cwd(), session_id: session, snapshot, result: { outputText: result?.outputText } })
    },
  },
}
