/**
 * What Sluice adds to a call of an upstream gateway, with keys, quotas and limits on: beside a bare proxy as the limit,
 * and beside Portkey where it is installed (bench/peers/README.md), in the same run. `--with` names configurations:
 * `sqlite`, `full` (SQLite that waits for the disk), `postgres`, `traces`, `streams`, `proxy`; all when not given.
 */
import { join } from "node:path"
import { type Bench, median, rounded, say } from "./Bench.ts"
import { withFolder } from "./corpus/CorpusFolder.ts"
import { type Configuration, CONFIGURATIONS } from "./gateway/Configurations.ts"
import { faultyLedgers } from "./gateway/Ledger.ts"
import { type Shared, startShared, startSluice, type Target } from "./gateway/Targets.ts"
import { closedLoop, type Measured, openLoop } from "./server/Load.ts"
import { stop } from "./server/Program.ts"
import { cpuMicroseconds, residentMegabytes } from "./server/Usage.ts"

const CONNECTIONS = [1, 16, 64]
const PER_SECOND = 500
const OPEN_CONNECTIONS = 16

/** Requests after which V8 has optimized most of what a process runs. */
const WARM = 10_000

/** Rounds alternate between the targets, so that a slow moment of the machine affects all of them. */
const ROUNDS = { closed: 5, open: 9 }
const QUICK_ROUNDS = { closed: 3, open: 3 }
const OPEN_SECONDS = 0.6

type Name = Target["name"]

interface Round extends Measured {
  /** Microseconds of CPU of a request. */
  readonly cpu: number
}

type Rounds = ReadonlyMap<Name, ReadonlyArray<Round>>

/** Runs a loop and measures the CPU that the process used. Requests that Sluice does not answer with 200 end the bench. */
const measure = async ({ name, pid }: Target, loop: () => Promise<Measured>): Promise<Round> => {
  const before = cpuMicroseconds(pid)
  const result = await loop()
  if (result.refused > 0 && name === "sluice") {
    throw new Error(`${name}: ${result.refused} of ${result.asked} requests were not answered with 200`)
  }
  return { ...result, cpu: (cpuMicroseconds(pid) - before) / result.asked }
}

const perSecond = ({ answered, seconds }: Round) => answered / seconds

const alternate = async (
  targets: ReadonlyArray<Target>,
  count: number,
  loop: (target: Target) => Promise<Measured>
): Promise<Rounds> => {
  const rounds = new Map<Name, Array<Round>>(targets.map(({ name }) => [name, []]))
  for (let round = 0; round < count; round++) {
    for (const target of targets) rounds.get(target.name)?.push(await measure(target, () => loop(target)))
  }
  return rounds
}

/** The median of a comparison, round by round. */
const compare = (rounds: Rounds, one: Name, other: Name, of: (one: Round, other: Round) => number) => {
  const others = rounds.get(other) ?? []
  return median(
    (rounds.get(one) ?? []).flatMap((round, at) => {
      const opposite = others[at]
      return opposite === undefined ? [] : [of(round, opposite)]
    })
  )
}

const benchConfiguration = async (
  name: string,
  configuration: Configuration,
  { beside, upstream }: Shared,
  quick: boolean
): Promise<Record<string, number>> =>
  withFolder(async (folder) => {
    const figures: Record<string, number> = {}
    const { process, target } = await startSluice(upstream, folder, configuration)
    try {
      const targets = [target, ...beside(configuration.stream)]
      for (const { request } of targets) await closedLoop(request, 16, { requests: quick ? 2000 : WARM })
      const rounds = quick ? QUICK_ROUNDS : ROUNDS
      for (const connections of CONNECTIONS) {
        const where = `${name}, ${connections} connection${connections === 1 ? "" : "s"}`
        say(`${where} …`)
        const closed = await alternate(
          targets.filter((one) => one.name !== "direct"),
          rounds.closed,
          ({ request }) => closedLoop(request, connections, { seconds: quick ? 0.5 : 1 })
        )
        for (const [one, measured] of closed) {
          const failed = median(measured.map(({ asked, refused }) => (100 * refused) / asked))
          if (failed > 0) figures[`${where}, ${one}, not answered with 200 (%)`] = rounded(failed, 0)
          figures[`${where}, ${one} (requests/s)`] = rounded(median(measured.map(perSecond)), 0)
          figures[`${where}, ${one}, of a request (CPU µs)`] = rounded(
            median(measured.map(({ cpu }) => cpu)),
            0
          )
        }
        for (const other of ["portkey", "undici proxy"] as const) {
          // A target that answers nothing has no ratio.
          if (!closed.get(other)?.some(({ answered }) => answered > 0)) continue
          figures[`${where}, sluice to ${other} (× requests/s)`] = rounded(
            compare(closed, "sluice", other, (ours, theirs) => perSecond(ours) / perSecond(theirs))
          )
        }
      }
      const where = `${name}, open loop of ${PER_SECOND}/s`
      say(`${where} …`)
      const open = await alternate(targets, rounds.open, ({ request }) =>
        openLoop(request, OPEN_CONNECTIONS, PER_SECOND, OPEN_SECONDS)
      )
      for (const one of open.keys()) {
        if (one === "direct") continue
        for (const percent of ["p50", "p99"] as const) {
          figures[`${where}, ${one}, added ${percent} (ms)`] = rounded(
            compare(open, one, "direct", (one, direct) => one[percent] - direct[percent]),
            3
          )
        }
      }
      figures[`${name}, sluice, memory (MB)`] = rounded(residentMegabytes(target.pid), 0)
    } finally {
      await stop([process])
    }
    const { SLUICE_DATABASE_URL } = configuration.env
    figures[`${name}, users whose ledger does not add up`] = await faultyLedgers({
      SLUICE_DATA: join(folder, "data"),
      ...(SLUICE_DATABASE_URL !== undefined && { SLUICE_DATABASE_URL })
    })
    return figures
  })

export const bench: Bench = async ({ quick, with: chosen }) => {
  const names = chosen.length === 0 ? Object.keys(CONFIGURATIONS) : chosen
  const unknown = names.find((name) => !Object.hasOwn(CONFIGURATIONS, name))
  if (unknown !== undefined) {
    throw new Error(
      `there is no configuration ${unknown}; there are: ${Object.keys(CONFIGURATIONS).join(", ")}`
    )
  }
  const figures: Record<string, number> = {}
  const shared = await startShared()
  try {
    for (const name of names) {
      const configuration = await CONFIGURATIONS[name]?.(shared.collector)
      if (configuration === undefined) continue
      try {
        Object.assign(figures, await benchConfiguration(name, configuration, shared, quick))
      } finally {
        await configuration.close?.()
      }
    }
  } finally {
    await stop(shared.processes)
  }
  return figures
}
