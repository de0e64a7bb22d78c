/** Sends equal requests over a number of connections and measures latency. */
import { setTimeout as sleep } from "node:timers/promises"
import { Pool } from "undici"
import { percentile } from "../Bench.ts"

export interface Request {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Measured {
  /** Responses with status 200. */
  readonly answered: number
  readonly refused: number
  /** All requests, including the lead of an open loop. */
  readonly asked: number
  readonly seconds: number
  /** Milliseconds. In an open loop, measured from when the request was due. */
  readonly p50: number
  readonly p99: number
}

const poolOf = ({ url }: Request, connections: number) => new Pool(url, { connections, pipelining: 1 })

const asking =
  ({ body, headers, path }: Request, pool: Pool) =>
  async (): Promise<boolean> => {
    const answer = await pool.request({ path, method: "POST", headers, body })
    await answer.body.dump()
    return answer.statusCode === 200
  }

const measured = (
  samples: ReadonlyArray<number>,
  refused: number,
  start: number,
  asked = samples.length + refused
): Measured => ({
  answered: samples.length,
  refused,
  asked,
  seconds: (performance.now() - start) / 1000,
  p50: percentile(samples, 0.5),
  p99: percentile(samples, 0.99)
})

/** Each connection sends its next request when the last is answered, for a time or a number of requests. */
export const closedLoop = async (
  request: Request,
  connections: number,
  until: { readonly seconds?: number; readonly requests?: number }
): Promise<Measured> => {
  const pool = poolOf(request, connections)
  const ask = asking(request, pool)
  const samples: Array<number> = []
  let refused = 0
  let left = until.requests ?? Infinity
  const start = performance.now()
  const end = start + (until.seconds ?? Infinity) * 1000
  const work = async () => {
    while (left-- > 0 && performance.now() < end) {
      const asked = performance.now()
      if (await ask()) samples.push(performance.now() - asked)
      else refused++
    }
  }
  await Promise.all(Array.from({ length: connections }, work))
  const result = measured(samples, refused, start)
  await pool.close()
  return result
}

/**
 * The first part of an open loop is not counted: it opens the connections, in a process that was idle, and would be the
 * slowest part of a short loop.
 */
const LEAD_SECONDS = 0.3

/** Sends requests at a fixed rate, whether earlier ones were answered or not, so that a slow server builds a queue. */
export const openLoop = async (
  request: Request,
  connections: number,
  perSecond: number,
  seconds: number
): Promise<Measured> => {
  const pool = poolOf(request, connections)
  const ask = asking(request, pool)
  const samples: Array<number> = []
  const underWay: Array<Promise<void>> = []
  let refused = 0
  const start = performance.now()
  const counted = start + LEAD_SECONDS * 1000
  const one = async (at: number) => {
    if (!(await ask())) refused++
    else if (at >= counted) samples.push(performance.now() - at)
  }
  const total = perSecond * (LEAD_SECONDS + seconds)
  for (let made = 0; made < total;) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond) + 1)
    for (; made < due; made++) {
      const at = start + (made / perSecond) * 1000
      underWay.push(one(at))
    }
    await sleep(0)
  }
  await Promise.all(underWay)
  const result = measured(samples, refused, counted, underWay.length)
  await pool.close()
  return result
}
