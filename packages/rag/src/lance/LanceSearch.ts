/** Recall: by vector and by keywords side by side; each brings the passages that it finds. */
import { Effect } from "effect"
import type { Hit, SearchQuery } from "../PassageIndex.ts"
import { RagError } from "../RagError.ts"
import { foundPassage } from "./FoundPassages.ts"
import { attempt, matchQuery, nearestTo, type Table } from "./Lance.ts"
import { hasDirection } from "./LanceVector.ts"
import { FOUND_COLUMNS, foundRows, type FoundRow } from "./LanceRows.ts"

/**
 * The search over a table. Codes give the order roughly: as many `candidates` as it says, more than are asked for, are
 * compared exactly.
 */
export const searchOf = (table: Table, dimension: number, candidates: (limit: number) => number) => {
  const byVector = async (
    vector: Float32Array,
    limit: number,
    columns: ReadonlyArray<string>,
    where: string | undefined
  ): Promise<ReadonlyArray<FoundRow>> => {
    const query = nearestTo(table, vector, { limit: candidates(limit), exact: false })
    const own = query.select([...columns, "_distance"])
    return foundRows(await (where === undefined ? own : own.where(where)).toArrow(), "_distance")
  }

  const byWords = async (
    words: string,
    limit: number,
    columns: ReadonlyArray<string>,
    where: string | undefined
  ): Promise<ReadonlyArray<FoundRow>> => {
    const query = table.query().fullTextSearch(matchQuery(words, "search")).limit(limit)
    const own = query.select([...columns, "_score"])
    return foundRows(await (where === undefined ? own : own.where(where)).toArrow(), "_score")
  }

  return Effect.fn("LanceCollection.search")(function* (
    { vectors, words, ...query }: SearchQuery,
    where: string | undefined
  ) {
    const vector = yield* checkQuery(query.vector, dimension)
    const limit = Math.max(1, Math.trunc(query.limit) || 1)
    const columns = vectors === true ? [...FOUND_COLUMNS, "vector"] : FOUND_COLUMNS
    const [near, said] = yield* attempt("retrieve", "recalling passages", () =>
      Promise.all([
        vector === undefined ? [] : byVector(vector, limit, columns, where),
        words === undefined || words.trim() === "" ? [] : byWords(words, limit, columns, where)
      ])
    )
    return hitsOf(near, said, limit)
  })
}

/**
 * The `limit` found by their vector, most similar first, then those that only keywords found, best first: with their
 * similarity where the vector found them among those that it compared besides.
 */
const hitsOf = (
  near: ReadonlyArray<FoundRow>,
  said: ReadonlyArray<FoundRow>,
  limit: number
): ReadonlyArray<Hit> => {
  const similarities = new Map(near.slice(limit).map(({ json, value }) => [json, 1 - value]))
  const places = new Map(said.map(({ json }, place) => [json, place]))
  const hits = new Map<string, Hit>()
  const put = ({ json, vector }: FoundRow, found: Omit<Hit, "passage" | "vector">): void => {
    const passage = foundPassage(json)
    // Of a passage that was replaced meanwhile, each may have found another version.
    if (hits.has(passage.id)) return
    hits.set(passage.id, { passage, ...found, ...(vector === undefined ? {} : { vector }) })
  }
  near.slice(0, limit).forEach((row, i) => {
    const place = places.get(row.json)
    places.delete(row.json)
    put(row, {
      similarity: 1 - row.value,
      vectorRank: i + 1,
      keywordScore: place === undefined ? undefined : said[place]?.value,
      keywordRank: place === undefined ? undefined : place + 1
    })
  })
  for (const place of places.values()) {
    const row = said[place]!
    put(row, { similarity: similarities.get(row.json), keywordScore: row.value, keywordRank: place + 1 })
  }
  return [...hits.values()]
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
