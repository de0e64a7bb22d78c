/**
 * Measures the stages `hyde` and `queries` on a judged collection, with a scripted model that knows the judgements. So the figures
 * are upper bounds: a real model does not know what the documents say.
 *
 * ```sh
 * node --conditions=@sluice/source scripts/measure-generated-texts.ts --data DIR [--collection cranfield]
 * ```
 *
 * For `hyde` the model writes every second word of a relevant document; for `queries`, the titles of relevant documents, or
 * other questions that the same document answers. `wrong` are the same texts of a document that is not relevant: what a model
 * costs that errs.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { QuestionRewriter } from "@sluice/core"
import * as Embedded from "@sluice/embedded"
import { evaluateRetrieval } from "@sluice/rag/evaluation"
import { Effect, Layer } from "effect"
import { NodeServices } from "@effect/platform-node"
import { flag } from "./flags.ts"
import { readJsonLines } from "./jsonLines.ts"

const data = join(flag("--data"), "retrieval")
const collection = flag("--collection", "cranfield")

interface Text {
  readonly _id: string
  readonly title?: string
  readonly text: string
}

const texts = (name: string) => readJsonLines<Text>(join(data, collection, name))

const idOf = ({ _id }: Text): string => _id

const corpus = texts("corpus.jsonl")
const documents = new Map(corpus.map((document) => [idOf(document), document]))
const queries = texts("queries.jsonl")
const byText = new Map(queries.map(({ _id, text }) => [text, _id]))
const relevant = Map.groupBy(
  readFileSync(join(data, collection, "qrels.tsv"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split("\t"))
    .filter(([, , grade]) => Number(grade) > 0),
  ([query = ""]) => query
)
const askedOf = Map.groupBy(queries, ({ _id }) => relevant.get(_id)?.[0]?.[1] ?? "")

const everySecondWord = ({ text }: Text): string =>
  [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
    .filter(({ isWordLike }) => isWordLike)
    .slice(0, 160)
    .flatMap(({ segment }, i) => (i % 2 === 0 ? [segment] : []))
    .join(" ")

const scripted = (isRight: boolean) =>
  Layer.succeed(
    QuestionRewriter,
    QuestionRewriter.of({
      model: { id: "scripted" },
      rewrite: (question) => Effect.succeed({ question, tokens: 0 }),
      generate: (kind, question, count) => {
        const id = byText.get(question) ?? ""
        const known = (relevant.get(id) ?? []).flatMap(([, document = ""]) => documents.get(document) ?? [])
        const wrong = corpus[(Number(/\d+/.exec(id)?.[0] ?? 0) * 7919) % corpus.length]!
        const from = isRight ? known : [wrong]
        const titles = from.flatMap(({ title }) => (title === undefined || title === "" ? [] : [title]))
        const others = from.flatMap(({ _id }) => askedOf.get(_id)?.map(({ text }) => text) ?? [])
        const wordings = (titles.length > 0 ? titles : others).filter((text) => text !== question)
        const made = kind === "passage" ? from.slice(0, 1).map(everySecondWord) : wordings.slice(0, count)
        return Effect.succeed({ texts: made.length === 0 ? [question] : made, tokens: 0 })
      }
    })
  )

const configurations = [
  { name: "hyde", options: { hyde: true } },
  { name: "queries", options: { queries: 3 } },
  { name: "both", options: { hyde: true, queries: 3 } }
]

for (const isRight of [true, false]) {
  const { runs } = await evaluateRetrieval({ data, collection, configurations }).pipe(
    Effect.scoped,
    Effect.provide(Layer.mergeAll(Embedded.layer, NodeServices.layer, scripted(isRight))),
    Effect.runPromise
  )
  for (const { cost, metrics, name } of runs)
    if (name === "default" || configurations.some((one) => one.name === name))
      console.log(isRight ? "right" : "wrong", name, metrics, cost)
}
