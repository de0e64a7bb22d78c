/** The sample documents shipped with the server, and starter questions about them. */
import type { Upload } from "@sluice/rag"
import { Effect, FileSystem, Path, Schema } from "effect"
import { fileURLToPath } from "node:url"

/** The package's `samples/` folder. The relative path is the same from `src/` and `dist/`. */
export const SAMPLES = fileURLToPath(new URL("../../samples", import.meta.url))

// A hidden file, so that ingesting the folder skips it.
const QUESTIONS = ".questions.json"
const decodeQuestions = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))

/** All sample files, sorted by path; none if the folder is missing. The page offers to remove documents with this metadata. */
export const readSamples = Effect.fn("Samples.read")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* fs.exists(folder))) return []
  const names = yield* fs.readDirectory(folder, { recursive: true })
  const samples: Array<Upload> = []
  for (const name of names.toSorted()) {
    const file = path.join(folder, name)
    if (name === QUESTIONS || (yield* fs.stat(file)).type !== "File") continue
    samples.push({
      path: name.split(path.sep).join("/"),
      bytes: yield* fs.readFile(file),
      metadata: { sample: true }
    })
  }
  return samples
})

/** Questions that the samples answer; none if the file is missing. */
export const readQuestions = Effect.fn("Samples.questions")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, QUESTIONS)
  if (!(yield* fs.exists(file))) return []
  return yield* decodeQuestions(yield* fs.readFileString(file))
})
