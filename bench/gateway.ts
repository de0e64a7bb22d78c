/**
 * What the server adds to a call of a gateway behind it, keys, quotas and limits switched on: against the upstream asked
 * directly, a bare proxy as the limit, and another's gateway where it is installed (bench/peers/README.md).
 */
import { join } from "node:path"
import { type Bench, percentile, rounded, say } from "./Bench.ts"
import { withFolder } from "./CorpusFolder.ts"
import { startTargets, stopTargets, type Target } from "./gatewayTargets.ts"
import { faultyLedgers } from "./gatewayLedger.ts"
import { closedLoop, type Measured, openLoop } from "./Load.ts"
import { cpuMicroseconds, peakMegabytes, residentMegabytes } from "./Usage.ts"

const CONNECTIONS = [1, 16, 64]
/** Of the open loop: what is to be reached is said of these. */
const PER_SECOND = 1000
const OPEN_CONNECTIONS = 16

/** V8 makes the code of these processes faster for as long as this. */
const WARM = 20_000

/** In turns, so that what else the machine does befalls all alike. */
const QUICK_ROUNDS = 3
const CLOSED_ROUNDS = 5

/** Of the open loop: one stall of the machine decides the 99th percentile of its turn, and of no other. */
const OPEN_ROUNDS = 15
const OPEN_SECONDS = 0.6

type Rounds = ReadonlyMap<Target["name"], ReadonlyArray<Round>>

interface Round extends Measured {
  readonly cpu: number
}

/** A loop with the CPU that the process used meanwhile. Whatever is not 200 is no answer, and ends the bench. */
const watched = async ({ name, pid }: Target, loop: () => Promise<Measured>): Promise<Round> => {
  const before = cpuMicroseconds(pid)
  const result = await loop()
  if (result.refused > 0) {
    throw new Error(
      `${name} answered ${result.refused} of ${result.refused + result.answered} requests otherwise than 200`
    )
  }
  return { ...result, cpu: (cpuMicroseconds(pid) - before) / result.asked }
}

const median = (values: ReadonlyArray<number>) => percentile(values, 0.5)

const middle = (rounds: ReadonlyArray<Round>, of: (round: Round) => number) => median(rounds.map(of))

/** What one gives against another, round by round, and of that the median. */
const against = (
  rounds: Rounds,
  [one, other]: readonly [Target["name"], Target["name"]],
  compare: (one: Round, other: Round) => number
) => {
  const others = rounds.get(other) ?? []
  const compared = (rounds.get(one) ?? []).flatMap((round, at) => {
    const opposite = others[at]
    return opposite === undefined ? [] : [compare(round, opposite)]
  })
  return median(compared)
}

const perSecond = ({ answered, seconds }: Round) => answered / seconds

const inTurns = async (
  targets: ReadonlyArray<Target>,
  count: number,
  loop: (target: Target) => Promise<Measured>
): Promise<Rounds> => {
  const rounds = new Map<Target["name"], Array<Round>>(targets.map(({ name }) => [name, []]))
  for (let round = 0; round < count; round++) {
    for (const target of targets) rounds.get(target.name)?.push(await watched(target, () => loop(target)))
  }
  return rounds
}

export const bench: Bench = ({ quick }) =>
  withFolder(async (folder) => {
    const figures: Record<string, number> = {}
    const seconds = quick ? 0.5 : 1
    try {
      const targets = await startTargets(folder)
      for (const { request } of targets) await closedLoop(request, 16, { requests: quick ? 500 : WARM })

      const note = (rounds: Rounds, where: string) => {
        for (const [name, measured] of rounds) {
          const added = (of: (round: Round) => number) =>
            rounded(
              against(rounds, [name, "direct"], (one, direct) => of(one) - of(direct)),
              3
            )
          figures[`${name}, ${where} (requests/s)`] = rounded(middle(measured, perSecond), 0)
          if (name === "direct") continue
          figures[`${name}, ${where}, added p50 (ms)`] = added(({ p50 }) => p50)
          figures[`${name}, ${where}, added p99 (ms)`] = added(({ p99 }) => p99)
          figures[`${name}, ${where}, of a request (CPU µs)`] = rounded(
            middle(measured, ({ cpu }) => cpu),
            0
          )
        }
      }
      for (const connections of CONNECTIONS) {
        const where = `closed loop, ${connections} connections`
        say(`${where} …`)
        const rounds = await inTurns(targets, quick ? QUICK_ROUNDS : CLOSED_ROUNDS, ({ request }) =>
          closedLoop(request, connections, { seconds })
        )
        note(rounds, where)
        for (const other of ["portkey", "undici proxy"] as const) {
          if (!rounds.has(other)) continue
          figures[`sluice to ${other}, ${where} (× requests/s)`] = rounded(
            against(rounds, ["sluice", other], (one, their) => perSecond(one) / perSecond(their))
          )
        }
      }
      const where = `open loop, ${PER_SECOND}/s on ${OPEN_CONNECTIONS} connections`
      say(`${where} …`)
      const rounds = await inTurns(targets, quick ? QUICK_ROUNDS : OPEN_ROUNDS, ({ request }) =>
        openLoop(request, OPEN_CONNECTIONS, PER_SECOND, OPEN_SECONDS)
      )
      note(rounds, where)
      for (const [name, measured] of rounds) {
        const p99s = measured.map(({ p99 }) => p99)
        figures[`${name}, ${where}, p99 (ms)`] = rounded(median(p99s), 3)
        figures[`${name}, ${where}, p99 of the best turn (ms)`] = rounded(Math.min(...p99s), 3)
        figures[`${name}, ${where}, p99 of the worst turn (ms)`] = rounded(Math.max(...p99s), 3)
        if (name === "direct" || name === "undici proxy") continue
        figures[`${name} to undici proxy, ${where} (× p99)`] = rounded(
          against(rounds, [name, "undici proxy"], (one, proxy) => one.p99 / proxy.p99)
        )
      }

      const ours = targets.find(({ name }) => name === "sluice")
      if (ours !== undefined) {
        const requests = quick ? 2000 : 100_000
        // V8 may collect its old memory late: one reading after 100,000 requests does not tell whether it grows.
        say(`${requests} requests, five times …`)
        figures["sluice, memory before (MB)"] = rounded(residentMegabytes(ours.pid), 0)
        for (const times of [1, 2, 3, 4, 5]) {
          const { cpu } = await watched(ours, () => closedLoop(ours.request, 16, { requests }))
          figures[`sluice, of one of ${requests} more requests (CPU µs)`] = rounded(cpu, 0)
          figures[`sluice, memory after ${times * requests} more requests (MB)`] = rounded(
            residentMegabytes(ours.pid),
            0
          )
        }
      }
      for (const { name, pid } of targets) {
        if (name !== "direct") figures[`${name}, peak memory (MB)`] = rounded(peakMegabytes(pid), 0)
      }
    } finally {
      await stopTargets()
    }
    figures["sluice, users whose ledger does not add up"] = await faultyLedgers(join(folder, "data"))
    return figures
  })
