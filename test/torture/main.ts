/**
 * `npm run -s torture [-- NAME] [-- --seed N] [-- --minutes M]`: runs the long trials from a seed that it prints; with a
 * name, those whose names begin with it.
 *
 * With `--minutes`, each trial runs for its share of the time instead of its number of rounds. The first failure ends the
 * run and prints the seed of its round. Repeat it with `--only NAME --seed N --rounds 1`. `attack` is not random: see
 * `attack.ts`. `cluster --store ceph` runs on Ceph: see `demo-server/Ceph.ts`.
 */
import { parseArgs } from "node:util"
import { seeded } from "../../bench/corpus/Random.ts"
import { fuzz } from "../fuzz/fuzz.ts"
import { cluster } from "../trials/cluster.ts"
import { crashes } from "../trials/crashes.ts"
import { documents, documentsLaw } from "../trials/documents.ts"
import { formats } from "../trials/formats.ts"
import { gateway } from "../trials/gateway.ts"
import { kills } from "../trials/kills.ts"
import { ledger } from "../trials/ledger.ts"
import { parsing } from "../trials/parsing.ts"
import { pdf } from "../trials/pdf.ts"
import type { Trial } from "../trials/Trial.ts"
import { writers } from "../trials/writers.ts"
import { attack } from "./attack.ts"

const { positionals, values } = parseArgs({
  options: {
    seed: { type: "string" },
    minutes: { type: "string" },
    rounds: { type: "string" },
    only: { type: "string" },
    rest: { type: "string" },
    store: { type: "string" }
  },
  allowPositionals: true
})
const store = values.store === "ceph" ? "ceph" : undefined

const trials: ReadonlyArray<{ readonly name: string; readonly trial: Trial; readonly rounds: number }> = [
  { name: "parsing", trial: parsing, rounds: 20_000 },
  { name: "formats", trial: formats, rounds: 3000 },
  { name: "pdf", trial: pdf, rounds: 1000 },
  { name: "documents", trial: documents, rounds: 300 },
  { name: "documents-law", trial: documentsLaw, rounds: 50 },
  { name: "gateway", trial: gateway, rounds: 1000 },
  { name: "fuzz", trial: fuzz, rounds: 300 },
  { name: "crashes", trial: crashes, rounds: 50 },
  // One round kills a hundred writers of one collection.
  { name: "kills", trial: kills(100), rounds: 1 },
  { name: "writers", trial: writers, rounds: 50 },
  // Each round kills the server twice.
  { name: "ledger", trial: ledger, rounds: 50 },
  // Needs PostgreSQL. One round is about a minute.
  {
    name: "cluster",
    trial: cluster({ servers: 3, workers: 2, kills: 10, documents: 1200, store }),
    rounds: 5
  }
]

if (positionals[0] === "attack") process.exit((await attack(values.only, Number(values.rest ?? 2))) ? 0 : 1)
const only = values.only ?? positionals[0]
const seed = Number(values.seed ?? Date.now() % 1_000_000_000)
const chosen = trials.filter(({ name }) => only === undefined || name.startsWith(only))
const milliseconds =
  values.minutes === undefined ? undefined : (Number(values.minutes) * 60_000) / chosen.length
if (!Number.isInteger(seed) || chosen.length === 0 || Number.isNaN(milliseconds)) {
  console.error(
    `--seed takes an integer, --minutes a number, --only one of ${trials.map(({ name }) => name).join(", ")}`
  )
  process.exit(1)
}

console.log(`seed ${seed}`)
for (const { name, rounds, trial } of chosen) {
  const start = performance.now()
  const count = Number(values.rounds ?? rounds)
  let round = 0
  const hasNext = () =>
    milliseconds === undefined ? round < count : performance.now() - start < milliseconds
  for (; hasNext(); round++) {
    try {
      await trial(seeded(seed + round))
    } catch (cause) {
      console.error(cause)
      console.log(
        `${name} failed in round ${round}. Repeat with: npm run -s torture -- --only ${name} --seed ${seed + round} --rounds 1`
      )
      process.exit(1)
    }
  }
  console.log(`${name}: ${round} rounds passed, ${((performance.now() - start) / 1000).toFixed(0)} s`)
}
