/** Recall by vector and by keywords, in one query each. */
import type { RecordBatch } from "apache-arrow"
import { Effect } from "effect"
import type { StoredPassage } from "../../document/Document.ts"
import type { Hit, SearchQuery } from "../PassageIndex.ts"
import { RagError } from "../../document/RagError.ts"
import { atOneVersion, attempt, matchQuery, nearestTo, type Table } from "./Lance.ts"
import { foundAddresses, type FoundRow, hasDirection, takenRows, toPassage } from "./LanceRows.ts"
import type { CachedTable, TableCache } from "./TableCache.ts"

/** LanceDB fails above 2³² candidates, as if a file was damaged. */
const MAX_LIMIT = 2 ** 30

/** A checked query. */
interface LanceQuery extends SearchQuery {
  readonly where: string | undefined
  /** Passages whose exact cosine is computed. */
  readonly candidates: number
}

/**
 * The search over a table, from `cache` if it has the table. The vector index orders approximately, so more `candidates`
 * than the limit get their exact cosine.
 */
export const searchTable = (
  table: Table,
  dimension: number,
  candidates: (limit: number) => number,
  cache: TableCache | undefined
) =>
  Effect.fn("LanceCollection.search")(function* (query: SearchQuery, where: string | undefined) {
    const vector = yield* checkQuery(query.vector, dimension)
    const limit = Math.min(Math.max(1, Math.trunc(query.limit) || 1), MAX_LIMIT)
    const words = query.words?.trim() === "" ? undefined : query.words
    const search: LanceQuery = { ...query, vector, words, where, limit, candidates: candidates(limit) }
    const rows = cache?.rows()
    if (rows !== undefined) {
      const hits = yield* attempt("retrieve", "recalling passages", () =>
        cachedHits(table, rows, search)
      ).pipe(
        // The search of the stored table below reports a failure.
        Effect.orElseSucceed(() => undefined)
      )
      if (hits !== undefined) return hits
      cache?.evict()
    }
    return yield* attempt("retrieve", "recalling passages", () =>
      atOneVersion(table, (pinned) => storedHits(pinned, search))
    )
  })

const runQueries = <A>(
  { candidates, limit, vector, where, words }: LanceQuery,
  table: Table,
  codes: boolean,
  runVector: (query: ReturnType<typeof nearestTo>) => Promise<ReadonlyArray<A>>,
  runKeywords: (query: ReturnType<typeof keywordQuery>) => Promise<ReadonlyArray<A>>
): Promise<readonly [ReadonlyArray<A>, ReadonlyArray<A>]> => {
  const filtered = <Q extends { readonly where: (sql: string) => Q }>(query: Q): Q =>
    where === undefined ? query : query.where(where)
  return Promise.all([
    vector === undefined
      ? []
      : runVector(filtered(nearestTo(table, vector, { limit: candidates, exact: false, codes }))),
    words === undefined ? [] : runKeywords(filtered(keywordQuery(table, words, limit)))
  ])
}

const keywordQuery = (table: Table, words: string, limit: number) =>
  table.query().fullTextSearch(matchQuery(words, "search")).limit(limit)

/** Stops at `limit` rows. Asking LanceDB whether there are more would take .1 ms. */
const take = async (
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

/** The addresses of the nearest, and of those that keywords found. */
const findAddresses = (table: Table, search: LanceQuery, codes: boolean) =>
  runQueries(
    search,
    table,
    codes,
    async (query) =>
      foundAddresses(await take(search.candidates, query.select(["_distance"]).withRowId()), "_distance"),
    async (query) => foundAddresses(await take(search.limit, query.select(["_score"]).withRowId()), "_score")
  )

/** Reads the texts of the hits, not of all candidates: on an object store, each text is a request. */
const storedHits = async (table: Table, search: LanceQuery): Promise<ReadonlyArray<Hit>> => {
  const [nearest, matching] = await findAddresses(table, search, false)
  const addresses = new Set([...nearest.slice(0, search.limit), ...matching].map(({ address }) => address))
  const rows = table.takeRowIds([...addresses]).select(search.vectors ? ["passage", "vector"] : ["passage"])
  const taken = addresses.size === 0 ? new Map() : takenRows(await take(addresses.size, rows.withRowId()))
  const found = ({ address, value }: (typeof nearest)[number]): FoundRow<bigint> => ({
    key: address,
    value,
    vector: taken.get(address)?.vector
  })
  return combineHits(nearest.map(found), matching.map(found), search.limit, (address) => {
    const json = taken.get(address)?.json
    return json === undefined ? undefined : toPassage(json)
  })
}

/** Reads only addresses from the store. Undefined if the table has changed since it was cached. */
const cachedHits = async (
  table: Table,
  rows: CachedTable,
  search: LanceQuery
): Promise<ReadonlyArray<Hit> | undefined> => {
  const [version, [nearest, matching]] = await Promise.all([
    table.version(),
    findAddresses(rows.table, search, rows.indexed)
  ])
  if (version !== rows.version) return undefined
  const found = ({ address, value }: (typeof nearest)[number]): FoundRow<number> => {
    const key = rows.indexOf(address)
    if (key === undefined) throw new Error(`version ${rows.version} has no row ${address}`)
    return { key, value, vector: search.vectors ? rows.vector(key) : undefined }
  }
  const distance = rows.indexed && search.vector !== undefined ? rows.distances(search.vector) : undefined
  const byVector = nearest.map(found)
  return combineHits(
    distance === undefined
      ? byVector
      : byVector.map((row) => ({ ...row, value: distance(row.key) })).toSorted((a, b) => a.value - b.value),
    matching.map(found),
    search.limit,
    rows.passage
  )
}

/**
 * The `limit` nearest, most similar first, then those that only keywords found, best first. The latter have a similarity
 * if they were among the candidates of the vector query.
 */
const combineHits = <Key>(
  nearest: ReadonlyArray<FoundRow<Key>>,
  matching: ReadonlyArray<FoundRow<Key>>,
  limit: number,
  passageOf: (key: Key) => StoredPassage | undefined
): ReadonlyArray<Hit> => {
  const similarities = new Map(nearest.slice(limit).map(({ key, value }) => [key, 1 - value]))
  const keywordIndexes = new Map(matching.map(({ key }, index) => [key, index]))
  const hits = new Map<string, Hit>()
  const add = ({ key, vector }: FoundRow<Key>, found: Omit<Hit, "passage" | "vector">): void => {
    const passage = passageOf(key)
    // If a passage was replaced during the search, each query may have found another version of it.
    if (passage === undefined || hits.has(passage.id)) return
    hits.set(passage.id, { passage, ...found, ...(vector === undefined ? {} : { vector }) })
  }
  nearest.slice(0, limit).forEach((row, i) => {
    const index = keywordIndexes.get(row.key)
    keywordIndexes.delete(row.key)
    add(row, {
      similarity: 1 - row.value,
      vectorRank: i + 1,
      keywordScore: index === undefined ? undefined : matching[index]?.value,
      keywordRank: index === undefined ? undefined : index + 1
    })
  })
  for (const index of keywordIndexes.values()) {
    const row = matching[index]!
    add(row, { similarity: similarities.get(row.key), keywordScore: row.value, keywordRank: index + 1 })
  }
  return [...hits.values()]
}

/** Undefined for a zero vector, which finds nothing. Fails for a wrong length or a number that is not finite. */
const checkQuery = (
  vector: Float32Array | undefined,
  dimension: number
): Effect.Effect<Float32Array | undefined, RagError> => {
  if (vector === undefined || (vector.length === dimension && vector.every(Number.isFinite)))
    return Effect.succeed(vector && hasDirection(vector) ? vector : undefined)
  const message = `The question's vector has ${vector.length} numbers, or one that is not finite, where ${dimension} finite numbers are expected. Check that the configured embedding model is the one that answers.`
  return Effect.fail(new RagError({ stage: "retrieve", reason: "Model", message }))
}
