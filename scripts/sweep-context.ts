/**
 * Measures what a reader that writes needs to read: of the answerable questions in `test/qa/questions.jsonl`, the share whose
 * expected words are in what it reads, and the share that a scripted reader (the embedded one) answers with them.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/sweep-context.ts --data DIR
 * ```
 *
 * DIR has the papers in `figures`, as for `sluice eval qa`.
 */
import { join } from "node:path"
import { Reader } from "@sluice/core"
import type { ReaderPassage } from "@sluice/core/models"
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { expectedAnswers } from "@sluice/rag/evaluation"
import { Effect, FileSystem, Layer } from "effect"
import { NodeServices } from "@effect/platform-node"
import { flag } from "./flags.ts"

const data = flag("--data")
const root = join(import.meta.dirname, "..")

/** Estimated characters of a token. */
const TOKEN = 4

let read: ReadonlyArray<ReaderPassage> = []
const scripted = Layer.effect(
  Reader,
  Effect.map(Reader, (embedded) =>
    Reader.of({
      model: { id: "scripted", kind: "generative" },
      read: (question, passages) => {
        read = passages
        return embedded.read(question, passages)
      }
    })
  )
).pipe(Layer.provide(Embedded.layerReader))

const sweep = Effect.gen(function* () {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const library = yield* Library.open(folder)
  for (const docs of [join(root, "apps/demo-server/samples"), join(data, "figures")])
    yield* library.ingest(docs)
  const questions = (yield* expectedAnswers(join(root, "test/qa/questions.jsonl"))).filter(
    ({ contains }) => contains !== undefined && contains.length > 0
  )
  console.log("passages  section  tokens  in context  answered")
  for (const section of [false, true]) {
    for (const passages of [3, 5, 8, 10, 20]) {
      let [inContext, answered, characters] = [0, 0, 0]
      for (const { contains = [], question } of questions) {
        read = []
        const { answer, found } = yield* library.ask(question, {
          context: { passages, section, tokens: 20_000 }
        })
        const text = read.map((passage) => passage.text).join("\n")
        characters += text.length
        if (contains.some((words) => text.includes(words))) inContext++
        if (found && contains.some((words) => answer.includes(words))) answered++
      }
      const share = (count: number) => (count / questions.length).toFixed(3)
      const tokens = Math.round(characters / questions.length / TOKEN)
      console.log([passages, section, tokens, share(inContext), share(answered)].join("\t"))
    }
  }
})

await sweep.pipe(
  Effect.scoped,
  Effect.provide(
    Layer.mergeAll(Embedded.layerEmbedder, Embedded.layerReranker, scripted, NodeServices.layer)
  ),
  Effect.runPromise
)
