/** Latency of embedding calls while the server renders a film. */
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { type Bench, median, rounded } from "./Bench.ts"
import { withFolder } from "./corpus/CorpusFolder.ts"
import { closedLoop, type Measured, type Request } from "./server/Load.ts"
import { withServer } from "./server/RunningServer.ts"

/** Idle and rendering alternate, so that other load affects both. Each figure is the median. */
const ROUNDS = 3

const FILM = {
  model: "sluice-video-v-d",
  prompt: "a lock at night",
  seconds: "15",
  size: "1920x1080"
}

export const bench: Bench = ({ quick }) =>
  withFolder((folder) =>
    withServer(join(folder, "data"), async ({ output, url }) => {
      const [, key = ""] = /API key\s+(sk-\S+)/.exec(output()) ?? []
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const request: Request = {
        url,
        path: "/v1/embeddings",
        headers,
        body: JSON.stringify({ model: "sluice-lexical-1024", input: ["When does the lock open at night?"] })
      }
      const seconds = quick ? 1 : 4
      const measure = async () => {
        const measured = await closedLoop(request, 1, { seconds })
        if (measured.refused > 0) throw new Error(`${measured.refused} calls did not return 200`)
        return measured
      }
      const film = async (path: string, method: "GET" | "POST" | "DELETE") => {
        const sent = method === "POST" ? { body: JSON.stringify(FILM) } : {}
        const answer = await fetch(`${url}/v1/videos${path}`, { method, headers, ...sent })
        if (!answer.ok) throw new Error(`/v1/videos${path}: ${answer.status} ${await answer.text()}`)
        return (await answer.json()) as {
          readonly id: string
          readonly status: string
          readonly progress?: number
        }
      }
      const whileRendering = async () => {
        const { id } = await film("", "POST")
        while (((await film(`/${id}`, "GET")).progress ?? 0) === 0) await sleep(50)
        const measured = await measure()
        const { progress, status } = await film(`/${id}`, "GET")
        if (status !== "in_progress")
          throw new Error(`the film was ${status} before the measurement had ended`)
        await film(`/${id}`, "DELETE")
        return { ...measured, progress: progress ?? 0 }
      }

      await closedLoop(request, 1, { requests: quick ? 500 : 4000 })
      const idle: Array<Measured> = []
      const rendering: Array<Awaited<ReturnType<typeof whileRendering>>> = []
      for (let round = 0; round < ROUNDS; round++) {
        idle.push(await measure())
        rendering.push(await whileRendering())
      }
      const figures: Record<string, number> = {}
      for (const share of ["p50", "p99"] as const) {
        const still = median(idle.map((one) => one[share]))
        const busy = median(rendering.map((one) => one[share]))
        figures[`embeddings, idle, ${share} (ms)`] = rounded(still, 3)
        figures[`embeddings, while rendering, ${share} (ms)`] = rounded(busy, 3)
        figures[`embeddings, while rendering, ${share} (× idle)`] = rounded(busy / still)
      }
      figures["film progress while measured (%/s)"] = rounded(
        median(rendering.map(({ progress, seconds }) => progress / seconds))
      )
      return figures
    })
  )
