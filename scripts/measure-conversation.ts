/**
 * Measures follow-ups on the dialogues in `test/qa/dialogues.jsonl`: recall@20 and recall@3 of the question as it was
 * understood, against those of the question as a person rewrote it. Without a model, and with a scripted one that returns the person's words.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/measure-conversation.ts --data DIR [--held-out]
 * ```
 *
 * DIR has `retrieval/cmrc2018` and `figures`. `--held-out` measures the dialogues that were kept apart from development.
 */
import { join } from "node:path"
import { QuestionRewriter } from "@sluice/core"
import { dependsOnHistory } from "@sluice/core/text"
import * as Embedded from "@sluice/embedded"
import { Library, type LibraryService, type Trace } from "@sluice/rag"
import { Effect, FileSystem, Layer } from "effect"
import { NodeServices } from "@effect/platform-node"
import { flag } from "./flags.ts"
import { readJsonLines } from "./jsonLines.ts"

const data = flag("--data")
const heldOut = process.argv.includes("--held-out")
const root = join(import.meta.dirname, "..")

interface Dialogue {
  readonly id: string
  readonly language: string
  readonly collection: "cmrc2018" | "papers" | "samples"
  readonly document: string
  readonly heldOut: boolean
  readonly turns: ReadonlyArray<{ question: string; standalone?: string; contains?: string }>
}

const dialogues = readJsonLines<Dialogue>(join(root, "test/qa/dialogues.jsonl")).filter(
  (dialogue) => dialogue.heldOut === heldOut
)
const written = new Map(
  dialogues.flatMap(({ turns }) =>
    turns.map(({ question, standalone }) => [question, standalone ?? question])
  )
)

/** A model that rewrites as a person did. */
const scripted = Layer.succeed(
  QuestionRewriter,
  QuestionRewriter.of({
    model: { id: "scripted" },
    rewrite: (question) => Effect.succeed({ question: written.get(question) ?? question, tokens: 0 })
  })
)

const openLibrary = Effect.fn(function* (collection: Dialogue["collection"]) {
  const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
  const library = yield* Library.open(folder)
  if (collection === "cmrc2018") {
    const corpus = readJsonLines<{ _id: string; text: string }>(join(data, "retrieval/cmrc2018/corpus.jsonl"))
    const files = corpus.map(({ _id, text }) => ({
      path: `${_id}.txt`,
      bytes: new TextEncoder().encode(text)
    }))
    yield* library.ingest({ files })
  } else {
    // One library of both, so that papers and samples are each other's distractors.
    yield* library.ingest(join(root, "apps/demo-server/samples"))
    yield* library.ingest(join(data, "figures"))
  }
  return library
})

const squeeze = (text: string) => text.replaceAll(/\s+/g, " ")

/** Whether the answer's place is among all 20 retrieved passages, and among the kept ones. */
const findIn = ({ passages }: Trace, document: string, contains: string | undefined) => {
  const found = passages.filter(({ passage }) =>
    contains === undefined
      ? passage.document.path.startsWith(`${document}.`)
      : squeeze(passage.text).includes(contains)
  )
  return { "recall@20": found.length > 0, "recall@3": found.some(({ kept }) => kept) }
}

const measureDialogue = Effect.fn(function* (
  library: LibraryService,
  { document, turns }: Dialogue,
  count: (name: string, holds?: boolean) => void
) {
  const conversation = yield* library.conversation()
  for (const { contains, question, standalone } of turns) {
    const { standalone: understood, trace } = yield* conversation.ask(question)
    if (standalone === undefined) {
      count("standalone")
      count("changed", understood !== undefined)
      continue
    }
    count("followUps")
    count("recognised", dependsOnHistory(question))
    const found = {
      "by hand": findIn((yield* library.retrieve(standalone)).trace, document, contains),
      "as asked": findIn((yield* library.retrieve(question)).trace, document, contains),
      understood: findIn(trace, document, contains)
    }
    for (const [way, metrics] of Object.entries(found))
      for (const [metric, holds] of Object.entries(metrics)) count(`${metric} ${way}`, holds)
    if (found["by hand"]["recall@3"] && !found.understood["recall@3"])
      console.log(`  not kept: ${question} → ${trace.question}`)
  }
})

const measure = Effect.gen(function* () {
  for (const [model, rewriter] of [
    ["offline", Layer.empty],
    ["scripted", scripted]
  ] as const) {
    const byLanguage: Record<string, Record<string, number>> = {}
    yield* Effect.gen(function* () {
      const chinese = yield* openLibrary("cmrc2018")
      const others = yield* openLibrary("samples")
      for (const dialogue of dialogues) {
        const counts = (byLanguage[dialogue.language] ??= {})
        const library = dialogue.collection === "cmrc2018" ? chinese : others
        yield* measureDialogue(library, dialogue, (name, holds = true) => {
          counts[name] = (counts[name] ?? 0) + Number(holds)
        })
      }
    }).pipe(Effect.scoped, Effect.provide(rewriter))
    console.log(model, byLanguage)
  }
})

await measure.pipe(Effect.provide(Layer.mergeAll(Embedded.layer, NodeServices.layer)), Effect.runPromise)
