/** A thread that asks a server for its health and one user's question all the time, whatever the program does meanwhile. */
import { Agent, request } from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import { parentPort, workerData } from "node:worker_threads"

/** Milliseconds between two requests for the health. They do not wait for each other, so that a silence is seen whole. */
const HEALTH_EVERY = 10
const QUESTION_EVERY = 50

export interface ProbeInput {
  readonly url: string
  readonly key: string
}

/** Milliseconds of each response since the last `take`. */
export interface Probed {
  readonly health: ReadonlyArray<number>
  readonly questions: ReadonlyArray<number>
}

const { key, url }: ProbeInput = workerData
const agent = new Agent({ keepAlive: true })
let health: Array<number> = []
let questions: Array<number> = []

const send = (path: string, body: string | undefined, into: () => Array<number>): Promise<void> =>
  new Promise((resolve) => {
    const started = performance.now()
    const ended = () => {
      into().push(performance.now() - started)
      resolve()
    }
    const failed = () => {
      into().push(Number.POSITIVE_INFINITY)
      resolve()
    }
    const sent = request(
      new URL(path, url),
      {
        agent,
        method: body === undefined ? "GET" : "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" }
      },
      (response) =>
        response.statusCode === 200 ? response.resume().on("end", ended) : (response.resume(), failed())
    )
    // The server may close an idle connection in the moment that it is used again.
    const again = () => void send(path, body, into).then(resolve)
    sent.on("error", () => (sent.reusedSocket ? again() : failed())).end(body)
  })

let nextHealth = performance.now()
const healthTimer = setInterval(() => {
  for (; nextHealth <= performance.now(); nextHealth += HEALTH_EVERY)
    void send("/healthz", undefined, () => health)
}, HEALTH_EVERY)
healthTimer.ref()

parentPort?.on("message", () => {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage({ health, questions } satisfies Probed)
  health = []
  questions = []
})

for (let i = 0; ; i++) {
  const question = `What is the toll of gate ${i % 20}?`
  await send("/qa", JSON.stringify({ question }), () => questions)
  await pause(QUESTION_EVERY)
}
