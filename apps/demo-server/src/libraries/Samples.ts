/** The sample documents that come with the server, and questions about them. */
import type { Upload } from "@sluice/rag"
import { Effect, FileSystem, Path, Schema } from "effect"
import { fileURLToPath } from "node:url"

/** `samples/` of this package, from `src/` as from `dist/`. */
export const SAMPLES = fileURLToPath(new URL("../../samples", import.meta.url))

// Hidden, so that reading the folder as documents leaves the questions out
const QUESTIONS = ".questions.json"
const decodeQuestions = Schema.decodeUnknownEffect(
  Schema.fromJsonString(
    Schema.Array(Schema.Union([Schema.String, Schema.Struct({ question: Schema.String })]))
  )
)

/** All sample files, by path; none when the folder is not there. */
export const readSamples = Effect.fn("Samples.read")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (!(yield* fs.exists(folder))) return []
  const names = yield* fs.readDirectory(folder, { recursive: true })
  const samples: Array<Upload> = []
  for (const name of names.toSorted()) {
    const file = path.join(folder, name)
    if (name === QUESTIONS || (yield* fs.stat(file)).type !== "File") continue
    samples.push({ path: name.split(path.sep).join("/"), bytes: yield* fs.readFile(file) })
  }
  return samples
})

/** Questions that the samples answer; none when there is no such file. */
export const readQuestions = Effect.fn("Samples.questions")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, QUESTIONS)
  if (!(yield* fs.exists(file))) return []
  const questions = yield* Effect.flatMap(fs.readFileString(file), decodeQuestions)
  return questions.map((entry) => (typeof entry === "string" ? entry : entry.question))
})
