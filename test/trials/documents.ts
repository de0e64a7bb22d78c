/** Hostile files of up to 8 MB: the thread that answers stays free, and nothing ends the process. */
import { Effect, Exit } from "effect"
import { parseAndChunk } from "../../packages/rag/src/formats/ParsedFile.ts"
import type { Random } from "../../bench/corpus/Random.ts"
import { bytesOf } from "./containerMonsters.ts"
import { modelMonsters, monsters, pdfMonsters, readMonsters } from "./monsters.ts"
import type { Monster } from "./repeatedConstructs.ts"
import { makeLaw } from "./monstersLaw.ts"
import { must, type Trial } from "./Trial.ts"

const MAX_CHARACTERS = 8_000_000
/** Processor time of the calling thread: of any file, and more for each MB, whose passages it receives. */
const MILLISECONDS = 250
const MILLISECONDS_A_MB = 100

const anyOf = (random: Random, from: ReadonlyArray<Monster>): Monster =>
  from[random.between(0, from.length - 1)]!

/** One construct, or two of one format mixed, in a file of random size. */
export const documents: Trial = async (random) => {
  const first = anyOf(random, monsters)
  const second = anyOf(
    random,
    monsters.filter(({ path }) => path === first.path)
  )
  const size = 1000 + Math.floor(random.next() ** 3 * MAX_CHARACTERS)
  const text = random.pick([
    () => first.make(size),
    () => `${first.make(size / 2)}${second.make(size / 2)}`,
    () => `${first.make(100)}${second.make(100)}`.repeat(size / 200)
  ])()
  const bytes = bytesOf(first.path, text)
  const name = `${first.name} and ${second.name}, ${bytes.length} bytes`
  const started = process.threadCpuUsage()
  const exit = await Effect.runPromiseExit(parseAndChunk({ path: first.path, bytes }))
  const used = process.threadCpuUsage(started)
  const milliseconds = (used.user + used.system) / 1000
  must(Exit.isSuccess(exit) || Exit.hasFails(exit), () => `${name} died: ${JSON.stringify(exit)}`)
  must(milliseconds <= MILLISECONDS + (MILLISECONDS_A_MB * bytes.length) / 1e6, () => {
    return `${name} kept the calling thread busy for ${milliseconds.toFixed(0)} ms`
  })
}

/** Twice the file takes at most 2.5 times the operations, from 1 MB up. */
export const documentsLaw: Trial = async (random) => {
  const law = makeLaw()
  await law.assertLinear(
    anyOf(random, [...monsters, ...modelMonsters, ...readMonsters, ...pdfMonsters]),
    2_000_000
  )
  await law.stop()
}
