/** Single flipped bits in the files of a library. Another process then reads all of it, and writes. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { cp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { embedText } from "../rag/Models.ts"
import { documentOf, MANIFEST, storeIn } from "../rag/StoredDocuments.ts"
import { testFolder } from "../rag/TestFolder.ts"

const PASSAGES = 8
const documentAt = (name: string) =>
  documentOf(
    `${name}.md`,
    Array.from({ length: PASSAGES }, (_, i) => `${name} passage ${i} of the pond`)
  )
const COMPACTED = ["heron", "otter", "pike"].map(documentAt)
/** With a file each. */
const SINGLE = ["swan", "crane", "toad"].map(documentAt)
const ALL = [...COMPACTED, ...SINGLE]

const FLIPS = 40

const fill = (folder: string) =>
  Effect.gen(function* () {
    const collection = yield* Effect.flatMap(storeIn(folder), (index) => index.open("default", MANIFEST))
    for (const document of COMPACTED) yield* collection.commit([document])
    yield* collection.maintain
    for (const document of SINGLE) yield* collection.commit([document])
  }).pipe(Effect.scoped)

/** The paths of documents of which something cannot be had. */
const lostIn = (folder: string) =>
  Effect.gen(function* () {
    const collection = yield* Effect.flatMap(storeIn(folder), (index) => index.open("default", MANIFEST))
    const lost: Array<string> = []
    for (const { info } of ALL) {
      const { id, path, sha256 } = info
      const words = path.replace(".md", "")
      const exit = yield* Effect.exit(
        Effect.gen(function* () {
          const hits = yield* collection.search({ vector: embedText(words), words, limit: PASSAGES })
          assert.isTrue(hits.some(({ passage }) => passage.document.path === path))
          assert.strictEqual((yield* collection.passages(id)).length, PASSAGES)
          assert.isTrue((yield* collection.documents).some((document) => document.id === id))
          assert.isDefined(yield* collection.original(sha256))
        })
      )
      if (Exit.isFailure(exit)) lost.push(path)
    }
    yield* collection.commit([documentAt("fresh")])
    return lost
  }).pipe(Effect.scoped)

/** A reproducible random number, 0 to 1. */
const randomOf = (seed: number) => () => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
  return seed / 2 ** 32
}

/** Flips bits of files whose path matches, one at a time. Says which documents each costs. */
const flips = (path: RegExp) =>
  Effect.gen(function* () {
    const { folder, library } = yield* testFolder
    yield* fill(library)
    const copy = join(folder, "copy")
    const names = yield* Effect.promise(() => readdir(library, { recursive: true }))
    const files = names.filter((name) => path.test(name))
    const random = randomOf(17)
    const found: Array<ReadonlyArray<string>> = []
    for (let i = 0; i < FLIPS; i++) {
      const file = files[i % files.length]!
      yield* Effect.promise(async () => {
        await cp(library, copy, { recursive: true })
        const bytes = await readFile(join(copy, file))
        bytes[Math.floor(random() * bytes.length)]! ^= 1 << Math.floor(random() * 8)
        await writeFile(join(copy, file), bytes)
      })
      found.push(yield* lostIn(copy))
      yield* Effect.promise(() => rm(copy, { recursive: true }))
    }
    return found
  }).pipe(Effect.scoped)

const compacted = new Set(COMPACTED.map(({ info }) => info.path))

describe("one flipped bit", { timeout: 120_000 }, () => {
  it.live("in a file of passages costs at most the documents of that file, and no write", () =>
    Effect.map(flips(/^c_.*data\/.*\.lance$/), (costs) => {
      assert.isTrue(costs.some((lost) => lost.length > 0))
      for (const lost of costs)
        assert.isTrue(lost.length <= 1 || lost.every((path) => compacted.has(path)), lost.join())
    })
  )

  it.live("in a file of originals costs at most its document, and no write", () =>
    Effect.map(flips(/^files.*data\/.*\.lance$/), (costs) => {
      assert.isTrue(costs.some((lost) => lost.length > 0))
      for (const lost of costs) assert.isAtMost(lost.length, 1, lost.join())
    })
  )

  it.live("in the list of snapshots costs no document", () =>
    Effect.map(flips(/^snapshots.*\.manifest$/), (costs) => {
      assert.isEmpty(costs.flat())
    })
  )
})
