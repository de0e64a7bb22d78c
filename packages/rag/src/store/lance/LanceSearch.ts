/** Recall: by vector and by keywords side by side; each brings the passages that it finds. */
import type { RecordBatch } from "apache-arrow"
import { Effect } from "effect"
import type { StoredPassage } from "../../document/Document.ts"
import type { Hit, SearchQuery } from "../PassageIndex.ts"
import { RagError } from "../../document/RagError.ts"
import { foundPassage } from "./FoundPassages.ts"
import type { HeldRows, Holder } from "./HeldRows.ts"
import { attempt, matchQuery, nearestTo, type Table } from "./Lance.ts"
import { hasDirection } from "./LanceVector.ts"
import { FOUND_COLUMNS, foundAddresses, foundRows } from "./LanceRows.ts"

/** What is looked for, as LanceDB takes it. */
interface Asked {
  readonly vector: Float32Array | undefined
  /** Undefined where there is no word. */
  readonly words: string | undefined
  readonly where: string | undefined
  readonly limit: number
  /** So many are compared exactly. */
  readonly candidates: number
  /** Whether hits bring their vectors. */
  readonly vectors: boolean
}

/** A row that was found: what stands for it, its distance or its BM25, and its vector where that was asked for. */
interface Found<Key> {
  readonly key: Key
  readonly value: number
  readonly vector: Float32Array | undefined
}

/**
 * The search over a table, in memory where `holder` holds it. Codes give the order roughly: as many `candidates` as it
 * says, more than are asked for, are compared exactly.
 */
export const searchOf = (
  table: Table,
  dimension: number,
  candidates: (limit: number) => number,
  holder: Holder | undefined
) =>
  Effect.fn("LanceCollection.search")(function* (query: SearchQuery, where: string | undefined) {
    const vector = yield* checkQuery(query.vector, dimension)
    const limit = Math.max(1, Math.trunc(query.limit) || 1)
    const asked: Asked = {
      vector,
      words: query.words?.trim() === "" ? undefined : query.words,
      where,
      limit,
      candidates: candidates(limit),
      vectors: query.vectors === true
    }
    const rows = holder?.rows()
    if (rows !== undefined) {
      const hits = yield* attempt("retrieve", "recalling passages", () => heldHits(table, rows, asked)).pipe(
        // What is wrong with the table the other way says.
        Effect.orElseSucceed(() => undefined)
      )
      if (hits !== undefined) return hits
      holder?.letGo()
    }
    return yield* attempt("retrieve", "recalling passages", () => storedHits(table, asked))
  })

/** Both ways at once. */
const bothWays = <A>(
  { candidates, limit, vector, where, words }: Asked,
  table: Table,
  codes: boolean,
  near: (query: ReturnType<typeof nearestTo>) => Promise<ReadonlyArray<A>>,
  said: (query: ReturnType<typeof saying>) => Promise<ReadonlyArray<A>>
): Promise<readonly [ReadonlyArray<A>, ReadonlyArray<A>]> => {
  const narrowed = <Q extends { readonly where: (sql: string) => Q }>(query: Q): Q =>
    where === undefined ? query : query.where(where)
  return Promise.all([
    vector === undefined
      ? []
      : near(narrowed(nearestTo(table, vector, { limit: candidates, exact: false, codes }))),
    words === undefined ? [] : said(narrowed(saying(table, words, limit)))
  ])
}

const saying = (table: Table, words: string, limit: number) =>
  table.query().fullTextSearch(matchQuery(words, "search")).limit(limit)

/** So many rows at most: when they are there, LanceDB is not asked whether there are more, which takes it .1 ms. */
const upTo = async (
  limit: number,
  batches: AsyncIterable<RecordBatch>
): Promise<ReadonlyArray<RecordBatch>> => {
  const found: Array<RecordBatch> = []
  let rows = 0
  for await (const batch of batches) {
    found.push(batch)
    rows += batch.numRows
    if (rows >= limit) break
  }
  return found
}

/** Each row brings its passage. */
const storedHits = async (table: Table, asked: Asked): Promise<ReadonlyArray<Hit>> => {
  const columns = asked.vectors ? [...FOUND_COLUMNS, "vector"] : FOUND_COLUMNS
  const [near, said] = await bothWays(
    asked,
    table,
    false,
    async (query) =>
      foundRows(await upTo(asked.candidates, query.select([...columns, "_distance"])), "_distance"),
    async (query) => foundRows(await upTo(asked.limit, query.select([...columns, "_score"])), "_score")
  )
  return hitsOf(near, said, asked.limit, foundPassage)
}

/** Addresses alone come from the store; undefined where the table has become another one since it was read. */
const heldHits = async (
  table: Table,
  rows: HeldRows,
  asked: Asked
): Promise<ReadonlyArray<Hit> | undefined> => {
  const [version, [near, said]] = await Promise.all([
    table.version(),
    bothWays(
      asked,
      rows.table,
      rows.codes,
      async (query) =>
        foundAddresses(await upTo(asked.candidates, query.select(["_distance"]).withRowId()), "_distance"),
      async (query) => foundAddresses(await upTo(asked.limit, query.select(["_score"]).withRowId()), "_score")
    )
  ])
  if (version !== rows.version) return undefined
  const distance = rows.codes && asked.vector !== undefined ? rows.distances(asked.vector) : undefined
  const found = ({ address, value }: (typeof near)[number]): Found<number> => {
    const key = rows.placeOf(address)
    if (key === undefined) throw new Error(`no row ${address} was read of version ${rows.version}`)
    return { key, value, vector: asked.vectors ? rows.vector(key) : undefined }
  }
  const nearest = near.map(found)
  return hitsOf(
    distance === undefined
      ? nearest
      : nearest.map((row) => ({ ...row, value: distance(row.key) })).toSorted((a, b) => a.value - b.value),
    said.map(found),
    asked.limit,
    rows.passage
  )
}

/**
 * The `limit` found by their vector, most similar first, then those that only keywords found, best first: with their
 * similarity where the vector found them among those that it compared besides.
 */
const hitsOf = <Key>(
  near: ReadonlyArray<Found<Key>>,
  said: ReadonlyArray<Found<Key>>,
  limit: number,
  passageOf: (key: Key) => StoredPassage
): ReadonlyArray<Hit> => {
  const similarities = new Map(near.slice(limit).map(({ key, value }) => [key, 1 - value]))
  const places = new Map(said.map(({ key }, place) => [key, place]))
  const hits = new Map<string, Hit>()
  const put = ({ key, vector }: Found<Key>, found: Omit<Hit, "passage" | "vector">): void => {
    const passage = passageOf(key)
    // Of a passage that was replaced meanwhile, each may have found another version.
    if (hits.has(passage.id)) return
    hits.set(passage.id, { passage, ...found, ...(vector === undefined ? {} : { vector }) })
  }
  near.slice(0, limit).forEach((row, i) => {
    const place = places.get(row.key)
    places.delete(row.key)
    put(row, {
      similarity: 1 - row.value,
      vectorRank: i + 1,
      keywordScore: place === undefined ? undefined : said[place]?.value,
      keywordRank: place === undefined ? undefined : place + 1
    })
  })
  for (const place of places.values()) {
    const row = said[place]!
    put(row, { similarity: similarities.get(row.key), keywordScore: row.value, keywordRank: place + 1 })
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
