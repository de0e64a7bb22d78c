/**
 * Damages the collected files and parses them: each is read within the limits, or refused with a reason.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/formats/damage.ts --files DIR [--count 1000] [--seed 1]
 * ```
 *
 * The same seed makes the same damage. A failure is named with its number, and its file is written to the temporary folder.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { extname, join } from "node:path"
import { type Random, seeded } from "../../bench/corpus/Random.ts"
import { ZipContainer } from "../../packages/rag/src/formats/container/ZipContainer.ts"
import type { ZipPart } from "../../test/rag/ZipWriter.ts"
import { damaged, damagedContainer, parsedOrRefused } from "../../test/trials/damaged.ts"
import { flag } from "../flags.ts"
import { type ListedFile, listedFiles } from "./listedFiles.ts"

const files = flag("--files")
const count = Number(flag("--count", "1000"))
const seed = Number(flag("--seed", "1"))

/** Larger files would take the time of the others. */
const MAX_BYTES = 200_000
/** A file is damaged within a second and parsed in some; this one hangs. */
const HANG_MILLIS = 60_000

const partsOf = async (bytes: Uint8Array): Promise<ReadonlyArray<ZipPart>> => {
  const container = await ZipContainer.open(bytes)
  const parts: Array<ZipPart> = []
  for (const name of container.names) {
    parts.push({ name, content: (await container.bytes(name, Number.MAX_SAFE_INTEGER))! })
  }
  return parts
}

const damage = async (random: Random, bytes: Uint8Array): Promise<Uint8Array> => {
  const parts = bytes[0] === 0x50 && bytes[1] === 0x4b ? await partsOf(bytes).catch(() => []) : []
  return parts.length === 0 ? damaged(random, bytes) : damagedContainer(random, parts)
}

const read = ({ name }: ListedFile): Uint8Array => new Uint8Array(readFileSync(join(files, name)))
const byFormat = Map.groupBy(
  listedFiles().filter((file) => read(file).length <= MAX_BYTES),
  ({ format }) => format
)
const formats = [...byFormat.values()]
let parsed = 0
let failed = 0
let slowest = 0
for (let at = 0; at < count; at++) {
  const random = seeded(seed * 1_000_003 + at)
  const some = formats[at % formats.length]!
  const file = some[random.between(0, some.length - 1)]!
  const bytes = await damage(random, read(file))
  const path = `damaged${extname(file.name)}`
  const started = performance.now()
  const hang = setTimeout(() => {
    console.error(`${at}: ${file.path} hangs`)
    process.exit(1)
  }, HANG_MILLIS)
  try {
    if (await parsedOrRefused({ path, bytes })) parsed++
  } catch (cause) {
    failed++
    const copy = join(tmpdir(), `damaged-${seed}-${at}${extname(file.name)}`)
    writeFileSync(copy, bytes)
    console.error(`${at}: ${file.repository} ${file.path}: ${(cause as Error).message} (${copy})`)
  }
  clearTimeout(hang)
  slowest = Math.max(slowest, performance.now() - started)
}
console.log(
  `${count} damaged files of ${formats.length} formats: ${parsed} parsed, ${count - parsed - failed} refused, ${failed} failed; the slowest took ${(slowest / 1000).toFixed(1)} s`
)
process.exit(failed === 0 ? 0 : 1)
