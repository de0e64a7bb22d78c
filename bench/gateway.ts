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

/** In turns, so that what else the machine does befalls all alike; each figure is the median of them. */
const ROUNDS = 3

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
  return { ...result, cpu: (cpuMicroseconds(pid) - before) / result.answered }
}

const middle = (rounds: ReadonlyArray<Round>, of: (round: Round) => number) => percentile(rounds.map(of), 0.5)

const inTurns = async (
  targets: ReadonlyArray<Target>,
  loop: (target: Target) => Promise<Measured>
): Promise<ReadonlyMap<Target["name"], ReadonlyArray<Round>>> => {
  const rounds = new Map<Target["name"], Array<Round>>(targets.map(({ name }) => [name, []]))
  for (let round = 0; round < ROUNDS; round++) {
    for (const target of targets) rounds.get(target.name)?.push(await watched(target, () => loop(target)))
  }
  return rounds
}

export const bench: Bench = ({ quick }) =>
  withFolder(async (folder) => {
    const figures: Record<string, number> = {}
    const seconds = quick ? 0.5 : 2
    try {
      const targets = await startTargets(folder)
      for (const { request } of targets) await closedLoop(request, 16, { requests: quick ? 500 : 4000 })

      const note = (rounds: Awaited<ReturnType<typeof inTurns>>, where: string) => {
        const direct = rounds.get("direct") ?? []
        for (const [name, measured] of rounds) {
          const added = (of: (round: Round) => number) =>
            rounded(middle(measured, of) - middle(direct, of), 3)
          figures[`${name}, ${where} (requests/s)`] = rounded(
            middle(measured, ({ answered, seconds }) => answered / seconds),
            0
          )
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
        say(`closed loop, ${connections} connections …`)
        note(
          await inTurns(targets, ({ request }) => closedLoop(request, connections, { seconds })),
          `closed loop, ${connections} connections`
        )
      }
      say(`open loop, ${PER_SECOND} requests/s …`)
      note(
        await inTurns(targets, ({ request }) => openLoop(request, OPEN_CONNECTIONS, PER_SECOND, seconds)),
        `open loop, ${PER_SECOND}/s on ${OPEN_CONNECTIONS} connections`
      )

      const ours = targets.find(({ name }) => name === "sluice")
      if (ours !== undefined) {
        const requests = quick ? 2000 : 100_000
        say(`${requests} requests …`)
        await closedLoop(ours.request, 16, { requests: requests / 5 })
        const before = residentMegabytes(ours.pid)
        const { cpu } = await watched(ours, () => closedLoop(ours.request, 16, { requests }))
        figures[`sluice, of one of ${requests} more requests (CPU µs)`] = rounded(cpu, 0)
        figures[`sluice, memory before ${requests} more requests (MB)`] = rounded(before, 0)
        figures[`sluice, memory after them (MB)`] = rounded(residentMegabytes(ours.pid), 0)
      }
      for (const { name, pid } of targets) {
        if (name !== "direct") figures[`${name}, peak memory (MB)`] = rounded(peakMegabytes(pid), 0)
      }
      for (const connections of CONNECTIONS) {
        const of = (name: Target["name"]) =>
          figures[`${name}, closed loop, ${connections} connections (requests/s)`] ?? Number.NaN
        for (const other of ["portkey", "undici proxy"] as const) {
          const ratio = of("sluice") / of(other)
          if (Number.isFinite(ratio)) {
            figures[`sluice to ${other}, closed loop, ${connections} connections (× requests/s)`] =
              rounded(ratio)
          }
        }
      }
    } finally {
      await stopTargets()
    }
    figures["sluice, users whose ledger does not add up"] = await faultyLedgers(join(folder, "data"))
    return figures
  })
