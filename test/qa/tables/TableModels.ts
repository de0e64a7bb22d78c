/** A library of the tables, and a chat model that writes SQL, reads its prompt, and uses only what it finds there. */
import { apiKey, GatewayRewriter, type QuestionRewriter } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import type { SqlTable } from "@sluice/core/models"
import { Library, type LibraryService } from "@sluice/rag"
import { Effect, Layer } from "effect"
import { type Behaviour, delta, events, LoopbackGateway } from "../../core/LoopbackGateway.ts"
import { testFolder } from "../../rag/TestFolder.ts"
import { tableDocuments } from "./TableDocuments.ts"
import { isCalculated, isExact, type TableQuestion, tableQuestions } from "./TableQuestions.ts"

export const openTables = Effect.gen(function* () {
  const { library: at } = yield* testFolder
  const opened = yield* Library.open(at)
  yield* opened.ingest({ files: Object.entries(tableDocuments()).map(([path, bytes]) => ({ path, bytes })) })
  return opened
})

/** Asks questions: those that are calculated, and of these the answers that are not exact. */
export const measureTables = Effect.fn(function* (
  library: LibraryService,
  questions: ReadonlyArray<TableQuestion>
) {
  const asked = yield* Effect.forEach(questions, (one) =>
    Effect.map(library.ask(one.question), (answer) => ({ ...one, answer }))
  )
  const calculated = asked.filter(({ answer }) => isCalculated(answer))
  const wrong = calculated.filter(({ answer, rows }) => !isExact(answer, rows))
  return { calculated, wrong: wrong.map(({ answer, question }) => `${question} ${answer.answer}`) }
})

/** Writes SQL in the form of the prompt. */
export const writesSql =
  (sql: string | null): Behaviour =>
  (_, response) =>
    events(response, [
      delta(JSON.stringify({ sql })),
      { choices: [{ delta: {}, finish_reason: "stop" }] },
      "[DONE]"
    ])

/** Writes the SQL of a question if its prompt has the tables, else none. */
export const scriptedModel: Behaviour = (seen, response, nth) => {
  const prompt = seen.body.messages.at(-1)?.content ?? ""
  const question = JSON.parse(/^Question: (".*")$/m.exec(prompt)?.[1] ?? '""') as string
  const lines = prompt.split("\n").filter((line) => line.startsWith("{"))
  const names = new Set(lines.map((line) => (JSON.parse(line) as SqlTable).name))
  const { sql = "" } = tableQuestions().find((one) => one.question === question) ?? {}
  const used = sql.match(/\b[a-z]+_(?:csv|xlsx|md|html|docx|ods|tsv)\b/g) ?? []
  writesSql(used.length > 0 && used.every((name) => names.has(name)) ? sql : null)(seen, response, nth)
}

/** A chat model behind a server, asked with the real prompt. Default: `scriptedModel`. */
export const layerSqlModel = (
  behaviour: Behaviour = scriptedModel
): Layer.Layer<QuestionRewriter | LoopbackGateway> =>
  Layer.unwrap(
    Effect.map(LoopbackGateway, ({ behave, url: baseUrl }) => {
      behave(behaviour)
      return Layer.provide(
        GatewayRewriter.layer({ model: "scripted" }),
        GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
      )
    })
  ).pipe(Layer.provideMerge(LoopbackGateway.layer), Layer.orDie)
