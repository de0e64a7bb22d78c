/** Many equal requests over a number of connections, and what they cost in time. */
import { setTimeout as sleep } from "node:timers/promises"
import { Pool } from "undici"
import { percentile } from "./Bench.ts"

export interface Request {
  readonly url: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Measured {
  /** Answered with 200; nothing else counts. */
  readonly answered: number
  readonly refused: number
  /** All that were asked, those at the beginning of an open loop among them. */
  readonly asked: number
  readonly seconds: number
  /** Milliseconds; of an open loop from when a request was due. */
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

/** Each connection asks again as soon as it was answered, for so many seconds or so many requests. */
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
 * Of an open loop the beginning is asked like the rest, and not counted: connections are opened then, by a process that
 * has done nothing for seconds, and these few requests would be the slowest of a short loop.
 */
const LEAD_SECONDS = 0.3

/** A request every so often, whether the ones before were answered or not: whoever is slow keeps the next waiting. */
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
