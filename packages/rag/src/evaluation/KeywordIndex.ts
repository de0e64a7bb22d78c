/** Full text search (BM25) over texts in a separate table, for evaluation. */
import { randomUUID } from "node:crypto"
import { isChinese } from "@sluice/core/text"
import { Field, Schema, Utf8 } from "apache-arrow"
import { Effect } from "effect"
import { attempt, connect, fullText, matchQuery } from "../store/lance/Lance.ts"
import { toTable, utf8 } from "../store/lance/LanceRows.ts"

/** Title and text in one, which BM25 ranks better than two fields. */
interface KeywordText {
  readonly id: string
  readonly text: string
}

const schema = new Schema([new Field("id", new Utf8(), false), new Field("text", new Utf8(), false)])

/** Indexes texts in a folder. The search gives identifiers, best first. */
export const indexKeywords = Effect.fn("KeywordIndex.index")(function* (
  folder: string,
  texts: ReadonlyArray<KeywordText>
) {
  const connection = yield* connect(folder)
  const table = yield* attempt("evaluate", "indexing keywords", async () => {
    const created = await connection.createEmptyTable(`k_${randomUUID().replaceAll("-", "")}`, schema)
    await created.add(
      toTable(schema, texts.length, [utf8(texts.map(({ id }) => id)), utf8(texts.map(({ text }) => text))])
    )
    const chinese = texts.filter(({ text }) => isChinese(text)).length * 2 > texts.length
    await created.createIndex("text", { config: fullText(chinese ? "zh" : "en") })
    return created
  })
  return Effect.fn("KeywordIndex.search")(function* (words: string, limit: number) {
    const query = table.query().fullTextSearch(matchQuery(words, "text")).limit(limit)
    const rows: ReadonlyArray<KeywordText> = yield* attempt("evaluate", "searching keywords", () =>
      query.select(["id", "_score"]).toArray()
    )
    return rows.map(({ id }) => id)
  })
})
