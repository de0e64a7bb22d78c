/** The only file that imports LanceDB: connections, indexes, writes, and its failures as RagErrors. */
import * as lancedb from "#lancedb"
import type { Field, RecordBatch, Schema } from "apache-arrow"
import { Effect, Redacted, Schedule, type Scope } from "effect"
import { mkdtemp, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import type { RagError, Stage } from "../../document/RagError.ts"
import { writeRows } from "../ArrowFile.ts"
import { storeError } from "../StoreError.ts"

export type Connection = lancedb.Connection
export type Table = lancedb.Table

/**
 * LanceDB's defaults are 6 GB and 1 GB. The codes of a million passages of 384 dimensions take 120 MB: if they do not fit,
 * each search reads them from the disk (108 ms of CPU in place of 16).
 */
const INDEX_CACHE_BYTES = 256n * 1024n * 1024n
const METADATA_CACHE_BYTES = 32n * 1024n * 1024n

/** Connections, and the folder or address that they lead to. */
export interface Store {
  /** Its tables see the commits of other processes at once: each call lists the versions. */
  readonly connection: Connection
  /** Its tables stay at the version of their last write. `append` and the like go to the latest one first. */
  readonly writing: Connection
  readonly folder: string
}

/** On an object store (`s3://`, `gs://`, `az://`) or LanceDB Enterprise. */
export const isRemote = (folder: string): boolean => folder.includes("://")

/** LanceDB Enterprise compacts and prunes by itself. */
export const isEnterprise = (folder: string): boolean => folder.startsWith("db://")

/** How a remote store is reached. */
export interface ConnectionOptions {
  /** For object stores, as LanceDB names them: `aws_access_key_id`, `aws_endpoint`, `allow_http` … */
  readonly storageOptions?: Readonly<Record<string, string>>
  /** For LanceDB Enterprise. */
  readonly apiKey?: Redacted.Redacted<string> | string
  readonly region?: string
  readonly hostOverride?: string
}

const connectWith = (
  folder: string,
  { apiKey, hostOverride, region, storageOptions }: ConnectionOptions,
  more: Partial<lancedb.ConnectionOptions>
) =>
  Effect.acquireRelease(
    attempt("open", `opening ${folder}`, () =>
      lancedb.connect(folder, {
        ...more,
        ...(storageOptions && { storageOptions: { ...storageOptions } }),
        ...(apiKey && { apiKey: Redacted.isRedacted(apiKey) ? Redacted.value(apiKey) : apiKey }),
        ...(region && { region }),
        ...(hostOverride && { hostOverride })
      })
    ),
    (connection) => Effect.promise(() => release(connection))
  )

/** The connections of a store for the lifetime of the scope. They share their caches. */
export const connectStore = Effect.fn("Lance.connect")(function* (
  folder: string,
  options: ConnectionOptions = {}
) {
  const session = new lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES)
  const connection = yield* connectWith(folder, options, { readConsistencyInterval: 0, session })
  const writing = isEnterprise(folder) ? connection : yield* connectWith(folder, options, { session })
  return { connection, writing, folder } satisfies Store
})

/** A connection for the lifetime of the scope. It sees the commits of other processes at once. */
export const connect = (
  folder: string,
  options?: ConnectionOptions
): Effect.Effect<Connection, RagError, Scope.Scope> =>
  Effect.map(connectStore(folder, options), ({ connection }) => connection)

/**
 * Sets the primary key. Without it, two writers of the same new row leave it twice. LanceDB Enterprise has no such setting:
 * use one writer there.
 */
export const setKey = async (folder: string, table: Table, column: string): Promise<void> => {
  if (!isEnterprise(folder)) await table.setUnenforcedPrimaryKey(column)
}

/** LanceDB refuses to close a connection during a call, so closing is retried. */
const release = async (connection: Connection): Promise<void> => {
  for (;;) {
    try {
      return connection.close()
    } catch (cause) {
      if (!/borrow/.test(String(cause))) throw cause
      await setTimeout(CLOSE_RETRY_MILLIS)
    }
  }
}

const CLOSE_RETRY_MILLIS = 5

/** A column whose values are stored outside the data pages, so that scans do not read them. */
export const blobField = (name: string): Field => lancedb.blob(name)

/**
 * Two bits per dimension, and every search compares all codes.
 *
 * Skipping partitions costs recall, because hashed lexical vectors hardly form clusters (100,000 vectors, 64 of 316
 * partitions: recall .67). All codes with exact cosines for the best give .975 or more in 3 ms. Codes need a dimension
 * that is a multiple of eight; other dimensions get whole vectors in partitions.
 */
export const vectorIndex = (rows: number, dimension: number) =>
  dimension % 8 === 0
    ? lancedb.Index.ivfRq({
        distanceType: "cosine",
        numBits: CODE_BITS,
        numPartitions: rows < ONE_PARTITION ? 1 : Math.round(rows / ROWS_PER_PARTITION),
        maxIterations: 10,
        sampleRate: 256
      })
    : lancedb.Index.ivfFlat({ distanceType: "cosine", numPartitions: Math.round(Math.sqrt(rows)) })

/** One bit needs four times as many exact cosines for the same recall; four bits take three times as long to build. */
const CODE_BITS = 2

/** LanceDB splits much larger partitions when it compacts. */
const ROWS_PER_PARTITION = 8_192
const ONE_PARTITION = 4 * ROWS_PER_PARTITION

/** Partitions searched: all of them up to eight million passages. */
const NPROBES = 1_000

/**
 * Words that the keyword index leaves out. With ICU, LanceDB's own list is that of all its languages together and drops
 * words that people search for: 重要, 组成, 属于, 问题, and "die" and "mine" in English.
 */
const KEYWORD_STOP_WORDS: ReadonlyArray<string> =
  `a about above after again against all am an and any are aren as at be because been before being below between both but
by can couldn d did didn do does doesn doing don down during each few for from further had hadn has hasn have haven
having he her here hers herself him himself his how i if in into is isn it its itself just ll m me more most mustn my
myself no nor not now of off on once only or other our ours ourselves out over own per re s same shan she should shouldn
so some such t than that the their theirs them themselves then there these they this those through to too under until up
ve very was wasn we were weren what when where which while who whom why will with won wouldn you your yours yourself
yourselves
的 了 是 在 和 与 及 或 也 都 就 而 着 之 于 被 把 从 对 为 以 等 这 那 其 它 他 她 们 您 吗 呢 吧 啊 么
什么 怎么 怎样 如何 哪些 哪个 哪里 哪位 多少 几个 为何 为什么 是否 谁 请问`.split(/\s+/)

/**
 * BM25 over one column: words by ICU, which segments Chinese, with English stems and stop words of both languages. Other
 * languages are not affected. nDCG@10 on CMRC 2018: .987; with LanceDB's own stop words .984.
 */
export const keywordIndex = () =>
  lancedb.Index.fts({
    baseTokenizer: "icu",
    language: "English",
    stem: true,
    removeStopWords: true,
    customStopWords: [...KEYWORD_STOP_WORDS],
    withPosition: false
  })

/** Finds rows by a key that each has, or few share. */
export const keyIndex = () => lancedb.Index.btree()

/** Counts rows by a column of few values. */
export const kindIndex = () => lancedb.Index.bitmap()

/** BM25 over one column: stemmed English without stop words, or words by ICU. */
export const fullText = (language: "en" | "zh") =>
  lancedb.Index.fts({
    ...(language === "en" ? { baseTokenizer: "simple", language: "English" } : { baseTokenizer: "icu" }),
    stem: language === "en",
    removeStopWords: language === "en",
    withPosition: false
  })

/**
 * The rows nearest to a vector, ordered by cosine: found by their codes, or by comparing all vectors if `exact`. With
 * `codes` the order is that of the codes; with either `codes` or `indexed`, rows outside the index are left out.
 */
export const nearestTo = (
  table: Table,
  vector: Float32Array,
  options: {
    readonly limit: number
    readonly exact: boolean
    readonly codes?: boolean
    readonly indexed?: boolean
  }
): lancedb.VectorQuery => {
  const { codes = false, exact, indexed = codes, limit } = options
  const query = table.query().nearestTo(vector).distanceType("cosine").nprobes(NPROBES).limit(limit)
  if (indexed) query.fastSearch()
  if (codes) return query
  // LanceDB computes the exact distances of what the codes found, so that no vectors enter this process's heap.
  query.refineFactor(1)
  return exact ? query.bypassVectorIndex() : query
}

export const matchQuery = (words: string, column: string) => new lancedb.MatchQuery(words, column)

/**
 * Runs a call of LanceDB. Its failure becomes a RagError that names the operation.
 *
 * A call of LanceDB cannot be cancelled: an interruption waits for it, so that nothing is written afterwards.
 */
export const attempt = <A>(stage: Stage, doing: string, call: () => Promise<A>): Effect.Effect<A, RagError> =>
  Effect.uninterruptible(Effect.tryPromise({ try: call, catch: (cause) => storeError(stage, doing, cause) }))

/** Reads columns of the rows that satisfy `where`. The caller names their types: LanceDB has none. */
export const selectRows = <Row>(
  table: Table,
  [stage, doing]: readonly [Stage, string],
  columns: ReadonlyArray<keyof Row & string>,
  where = "true"
): Effect.Effect<ReadonlyArray<Row>, RagError> =>
  attempt(stage, doing, () =>
    table
      .query()
      .where(where)
      .select([...columns])
      .toArray()
  )

/** Uses a table of its own, which is closed afterwards. */
export const withTable = async <A>(
  connection: Connection,
  name: string,
  use: (table: Table) => Promise<A>
): Promise<A> => {
  const table = await connection.openTable(name)
  try {
    return await use(table)
  } finally {
    table.close()
  }
}

/** A write. LanceDB refuses one of two conflicting commits; it is retried. */
export const attemptWrite = <A>(
  stage: Stage,
  doing: string,
  call: () => Promise<A>
): Effect.Effect<A, RagError> =>
  attempt(stage, doing, call).pipe(
    Effect.retry({
      schedule: Schedule.exponential("20 millis").pipe(Schedule.jittered, Schedule.upTo({ times: 8 })),
      while: (error) => /commit conflict|concurrent/i.test(String(error.cause))
    })
  )

/**
 * LanceDB's native table. The documented `add` and `execute` copy the data once more and read the schema from the disk
 * each time. It is not documented, so the version of LanceDB is pinned.
 */
interface NativeTable {
  readonly add: (bytes: Buffer, mode: "append") => Promise<lancedb.AddResult>
  readonly mergeInsert: (on: ReadonlyArray<string>) => NativeMerge
  readonly querySnapshot: () => Promise<unknown>
}
interface NativeMerge {
  readonly whenMatchedUpdateAll: () => NativeMerge
  readonly whenNotMatchedInsertAll: () => NativeMerge
  readonly execute: (bytes: Buffer) => Promise<lancedb.MergeResult>
}
const native = (table: Table): NativeTable => (table as unknown as { readonly inner: NativeTable }).inner

/**
 * Reads a table at one version. Each read of `table` itself lists its versions: on an object store, a request of up to 240 KB. A
 * store without versions is read as it is.
 */
export const atOneVersion = async <A>(table: Table, read: (pinned: Table) => Promise<A>): Promise<A> => {
  const snapshot = await native(table)
    .querySnapshot()
    .catch(() => undefined)
  if (snapshot === undefined) return read(table)
  const pinned: Table = Reflect.construct(table.constructor, [snapshot])
  try {
    return await read(pinned)
  } finally {
    pinned.close()
  }
}

/** Inserts rows whose keys are new. If the table `isRecent`, LanceDB's own list of the versions at the commit is enough. */
export const append = async (
  table: Table,
  rows: Iterable<RecordBatch>,
  isRecent = false
): Promise<lancedb.AddResult> => {
  if (!isRecent) await table.checkoutLatest()
  return writeRows(rows, (bytes) => native(table).add(bytes, "append")).catch(async (cause: unknown) => {
    await table.checkoutLatest()
    throw cause
  })
}

/** Inserts rows, or updates those with the same key. */
export const upsert = async (
  table: Table,
  key: string,
  rows: Iterable<RecordBatch>
): Promise<lancedb.MergeResult> => {
  await table.checkoutLatest()
  return writeRows(rows, (bytes) =>
    native(table).mergeInsert([key]).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(bytes)
  )
}

/** Deletes the rows that satisfy `where`. */
export const deleteRows = async (table: Table, where: string): Promise<unknown> => {
  await table.checkoutLatest()
  return table.delete(where)
}

/** True if the table does not exist, or has no version. */
export const isMissing = ({ cause }: RagError): boolean => /not found|does not exist/i.test(String(cause))

/** True if a file of the store is damaged or lost, and not out of reach. */
export const isUnreadable = ({ cause, reason }: RagError): boolean =>
  (reason === "Damaged" || reason === "Store") &&
  !/os error (?!2\b)|hit retry limit|error sending request|dns error/i.test(String(cause))

/**
 * Opens a table, or creates it.
 *
 * If two processes create a table at once, LanceDB lets the second overwrite the first. In a folder it is therefore created
 * in a temporary folder and renamed, which fails if the table exists. On an object store it is created in place.
 */
export const openOrCreate = Effect.fn("Lance.openOrCreate")(function* (
  { connection, folder }: Store,
  { key, name, schema }: { readonly name: string; readonly schema: Schema; readonly key: string }
) {
  const open = attempt("open", `opening table ${name}`, () => connection.openTable(name))
  const createIn = async (connection: Connection) => {
    const made = await connection.createEmptyTable(name, schema)
    await setKey(folder, made, key)
    made.close()
  }
  const create = attempt("open", `creating table ${name}`, () =>
    isRemote(folder) ? createIn(connection) : createByRename(folder, name, createIn)
  )
  return yield* open.pipe(
    Effect.catchIf(isMissing, () =>
      create.pipe(
        Effect.andThen(open),
        Effect.catch((error) => open.pipe(Effect.mapError(() => error)))
      )
    )
  )
})

/** The same table for every use. A failure is not kept: the next use opens it again. */
export const openOnce = <A, E>(open: Effect.Effect<A, E>) =>
  Effect.map(Effect.cachedInvalidateWithTTL(open, "Infinity"), ([opened, forget]) =>
    Effect.tapError(opened, () => forget)
  )

/** Like `openOrCreate`. If the table cannot be opened, its users fail, and the rest of the store can be used. */
export const openOnUse = (...args: Parameters<typeof openOrCreate>) =>
  Effect.tap(openOnce(openOrCreate(...args)), Effect.ignore)

const createByRename = async (
  folder: string,
  name: string,
  createIn: (connection: Connection) => Promise<void>
): Promise<void> => {
  const aside = await mkdtemp(join(folder, ".making-"))
  const connection = await lancedb.connect(aside)
  try {
    await createIn(connection)
    await rename(join(aside, `${name}.lance`), join(folder, `${name}.lance`))
  } finally {
    connection.close()
    await rm(aside, { recursive: true, force: true })
  }
}

/** Quotes a literal: LanceDB has no bound parameters. A quote is doubled; a backslash has no meaning. */
export const sqlString = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** `column IN ('…', '…')`. */
export const sqlIn = (column: string, values: ReadonlyArray<string>): string =>
  `\`${column}\` IN (${values.map(sqlString).join(", ")})`
