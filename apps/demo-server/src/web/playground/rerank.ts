/** Documents in the order of their relevance to a question. */
import { rerank } from "../api/gateway.ts"
import { makeCall } from "../page/runningCall.ts"
import { kept } from "../page/persisted.ts"
import { modelOf } from "./chosenModel.ts"

export const query = kept("rerank.query", "When is the lower gate opened?")

/** One a line. */
export const lines = kept(
  "rerank.lines",
  [
    "The office sells moorings by the week.",
    "A lock gate weighs eight tons and is moved by hand.",
    "The lower gate is opened when the levels are even.",
    "Boats wait at the upper landing stage for the green light."
  ].join("\n")
)

export const documentsOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")

export interface Ranked {
  /** Best first; `from` is the place among the documents, from 0. */
  readonly rows: ReadonlyArray<{ readonly from: number; readonly score: number; readonly text: string }>
  readonly tokens: number | undefined
}

export const ranking = makeCall<Ranked>("The documents were ordered.")

export const rank = (): Promise<void> =>
  ranking.run(async (signal) => {
    const documents = documentsOf(lines.value)
    const answer = await rerank({ model: modelOf("rerank"), query: query.value, documents }, signal)
    return {
      rows: answer.results.map(({ index, relevance_score: score }) => ({
        from: index,
        score,
        text: documents[index] ?? ""
      })),
      tokens: answer.usage?.total_tokens
    }
  })
