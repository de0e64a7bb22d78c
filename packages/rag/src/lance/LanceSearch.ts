/** Recall: by vector and by keywords side by side, then one look at the passages that either of them found. */
import { Effect } from "effect"
import type { Hit, SearchQuery } from "../PassageIndex.ts"
import { RagError } from "../RagError.ts"
import { attempt, matchQuery, nearest, type Table } from "./Lance.ts"
import { hasDirection } from "./LanceVector.ts"
import { FOUND_COLUMNS, foundRows, type FoundRow, toPassage } from "./LanceRows.ts"

/** A search again when a passage that was found is gone before it is read: another version took its place. */
const ATTEMPTS = 3

/** What the legs find: rows by their address in the table, best first. */
type Row = bigint
interface Keyword {
  readonly score: number
  readonly rank: number
}

/**
 * The search over a table. Codes give the order roughly: more `candidates` than asked for are looked at, and exact
 * cosines put them in order.
 */
export const searchOf = (table: Table, dimension: number, candidates: (limit: number) => number) => {
  const byWords = async (
    words: string,
    limit: number,
    where: string | undefined
  ): Promise<ReadonlyMap<Row, Keyword>> => {
    const query = table
      .query()
      .fullTextSearch(matchQuery(words, "search"))
      .limit(limit)
      .select(["_score"])
      .withRowId()
    const rows = await (where === undefined ? query : query.where(where)).toArray()
    return new Map(
      rows.map((row, i) => [row["_rowid"] as bigint, { score: row["_score"] as number, rank: i + 1 }])
    )
  }

  const once = async ({ limit, vector, vectors, words }: SearchQuery, where: string | undefined) => {
    const [all, said] = await Promise.all([
      vector === undefined
        ? new Map<Row, number>()
        : nearest(table, vector, { limit: candidates(limit), exact: false, where }),
      words === undefined || words.trim() === "" ? new Map<Row, Keyword>() : byWords(words, limit, where)
    ])
    const near = new Map([...all].slice(0, limit))
    const ids = [...new Set([...near.keys(), ...said.keys()])]
    if (ids.length === 0) return { missing: false, hits: [] }
    const columns = vectors === true ? [...FOUND_COLUMNS, "vector"] : FOUND_COLUMNS
    const found = foundRows(await table.takeRowIds(ids).select(columns).withRowId().toArrow())
    return { missing: found.size < ids.length, hits: hitsOf({ all, near, said, found }) }
  }

  return Effect.fn("LanceCollection.search")(function* (query: SearchQuery, where: string | undefined) {
    const vector = yield* checkQuery(query.vector, dimension)
    const limit = Math.max(1, Math.trunc(query.limit) || 1)
    return yield* attempt("retrieve", "recalling passages", async () => {
      for (let left = ATTEMPTS; ; left--) {
        const { hits, missing } = await once({ ...query, limit, vector }, where)
        if (!missing || left <= 1) return hits
      }
    })
  })
}

/** Those found by their vector, most similar first, then those that only keywords found, best first. */
const hitsOf = ({
  all,
  found,
  near,
  said
}: {
  /** Similarities, also of some that are less similar than was asked for. */
  readonly all: ReadonlyMap<Row, number>
  readonly near: ReadonlyMap<Row, number>
  readonly said: ReadonlyMap<Row, Keyword>
  readonly found: ReadonlyMap<Row, FoundRow>
}): ReadonlyArray<Hit> => {
  const ranks = new Map([...near.keys()].map((row, i) => [row, i + 1]))
  return [...near.keys(), ...[...said.keys()].filter((row) => !near.has(row))].flatMap((row) => {
    const there = found.get(row)
    if (there === undefined) return []
    const keyword = said.get(row)
    return [
      {
        passage: toPassage(there.json),
        similarity: all.get(row),
        vectorRank: ranks.get(row),
        keywordScore: keyword?.score,
        keywordRank: keyword?.rank,
        ...(there.vector === undefined ? {} : { vector: there.vector })
      }
    ]
  })
}

/** A vector without a direction finds nothing; one of another length or with a number that is none is refused. */
const checkQuery = (
  vector: Float32Array | undefined,
  dimension: number
): Effect.Effect<Float32Array | undefined, RagError> =>
  vector === undefined || (vector.length === dimension && vector.every(Number.isFinite))
    ? Effect.succeed(vector !== undefined && hasDirection(vector) ? vector : undefined)
    : Effect.fail(
        new RagError({
          stage: "retrieve",
          reason: "Model",
          message: `The question's vector has ${vector.length} numbers, or one that is not finite, where ${dimension} finite ones are due. Check that the configured embedding model is the one that answers.`
        })
      )
