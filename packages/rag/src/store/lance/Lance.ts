/** The one file that imports LanceDB: a connection, and its failures as RagErrors. */
import * as lancedb from "@lancedb/lancedb"
import { type Table as ArrowTable, type Data, type Field, type Schema, tableToIPC } from "apache-arrow"
import { Effect, Redacted, Schedule, type Scope } from "effect"
import { mkdtemp, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { RagError, type RagReason, type Stage } from "../../document/RagError.ts"
import { KEYWORD_STOP_WORDS } from "./KeywordStopWords.ts"

export type Connection = lancedb.Connection
export type Table = lancedb.Table

/**
 * LanceDB keeps 6 GB + 1 GB of caches unless told otherwise. The codes of a million passages of 384 numbers are 120 MB:
 * where they do not fit, each search reads them all from the disk (108 ms of CPU in place of 16).
 */
const INDEX_CACHE_BYTES = 256n * 1024n * 1024n
const METADATA_CACHE_BYTES = 32n * 1024n * 1024n

/** A connection, and where it leads. */
export interface Store {
  readonly connection: Connection
  readonly folder: string
}

/** On an object store (`s3://`, `gs://`, `az://`). */
export const isRemote = (folder: string): boolean => folder.includes("://")

/** On LanceDB Enterprise, which compacts and prunes by itself. */
export const isEnterprise = (folder: string): boolean => folder.startsWith("db://")

/** How a store that is no folder is reached. */
export interface Place {
  /** For object stores, as LanceDB names them: `aws_access_key_id`, `aws_endpoint`, `allow_http` … */
  readonly storageOptions?: Readonly<Record<string, string>>
  /** For LanceDB Enterprise. */
  readonly apiKey?: Redacted.Redacted<string> | string
  readonly region?: string
  readonly hostOverride?: string
}

/**
 * A connection for as long as the scope lives. The commits of all other handles and processes are seen at once:
 * `readConsistencyInterval` 0.
 */
export const connect = (
  folder: string,
  { apiKey, hostOverride, region, storageOptions }: Place = {}
): Effect.Effect<Connection, RagError, Scope.Scope> =>
  Effect.acquireRelease(
    attempt("open", `opening ${folder}`, () =>
      lancedb.connect(folder, {
        readConsistencyInterval: 0,
        session: new lancedb.Session(INDEX_CACHE_BYTES, METADATA_CACHE_BYTES),
        ...(storageOptions === undefined ? {} : { storageOptions: { ...storageOptions } }),
        ...(apiKey === undefined
          ? {}
          : { apiKey: Redacted.isRedacted(apiKey) ? Redacted.value(apiKey) : apiKey }),
        ...(region === undefined ? {} : { region }),
        ...(hostOverride === undefined ? {} : { hostOverride })
      })
    ),
    (connection) => Effect.promise(() => release(connection))
  )

/**
 * The column that tells rows apart. Without it, two writers of one new row leave it twice, in silence. LanceDB Enterprise
 * has no such setting: one writer there.
 */
export const setKey = async (folder: string, table: Table, column: string): Promise<void> => {
  if (!isEnterprise(folder)) await table.setUnenforcedPrimaryKey(column)
}

/** A call under way borrows the connection, and it cannot be closed before. */
const release = async (connection: Connection): Promise<void> => {
  for (;;) {
    try {
      return connection.close()
    } catch (cause) {
      if (!/borrow/.test(String(cause))) throw cause
      await setTimeout(CLOSE_AGAIN_MILLIS)
    }
  }
}

const CLOSE_AGAIN_MILLIS = 5

/** A column whose values stand outside the data pages, so that scans do not read them. */
export const blobField = (name: string): Field => lancedb.blob(name)

/**
 * Two bits a number, and every search looks at all of them.
 *
 * Partitions that are left out cost recall: hashed lexical vectors hardly form clusters (100,000 of them, 316
 * partitions, 64 probed: .67). All codes, with exact cosines for some of the best: .975 or more, in 3 ms.
 * Codes want a dimension that eight divides; other dimensions get whole vectors in partitions.
 */
export const vectorIndex = (rows: number, dimension: number) =>
  dimension % 8 === 0
    ? lancedb.Index.ivfRq({
        distanceType: "cosine",
        numBits: CODE_BITS,
        numPartitions: rows < ONE_PARTITION ? 1 : Math.round(rows / ROWS_A_PARTITION),
        maxIterations: 10,
        sampleRate: 256
      })
    : lancedb.Index.ivfFlat({ distanceType: "cosine", numPartitions: Math.round(Math.sqrt(rows)) })

/** One bit wants four times the exact cosines for the same recall; four bits take thrice as long to make. */
const CODE_BITS = 2

/** As large as LanceDB likes them: it splits much larger ones by itself when it compacts. */
const ROWS_A_PARTITION = 8_192
const ONE_PARTITION = 4 * ROWS_A_PARTITION

/** Partitions looked into at each search: all of them up to eight million passages. */
const NPROBES = 1_000

/**
 * BM25 over one column: words as ICU segments them, which is right for Chinese, with English stems and stop words of both,
 * which other languages do not mind. CMRC 2018, nDCG@10: .987, with LanceDB's own stop words .984.
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

/** BM25 over one column: stemmed English without stop words, or words as ICU segments them. */
export const fullText = (language: "en" | "zh") =>
  lancedb.Index.fts(
    language === "en"
      ? {
          baseTokenizer: "simple",
          language: "English",
          stem: true,
          removeStopWords: true,
          withPosition: false
        }
      : { baseTokenizer: "icu", stem: false, removeStopWords: false, withPosition: false }
  )

/**
 * A query for so many rows as are nearest to a vector by their codes, or `exact`ly, nearest first by their cosines; by what
 * the codes say where those alone are wanted.
 */
export const nearestTo = (
  table: Table,
  vector: Float32Array,
  {
    codes = false,
    exact,
    limit
  }: { readonly limit: number; readonly exact: boolean; readonly codes?: boolean }
): lancedb.VectorQuery => {
  const query = table.query().nearestTo(vector).distanceType("cosine").nprobes(NPROBES).limit(limit)
  if (codes) return query
  // The exact distances of all that the codes found: LanceDB reads their vectors, and none comes into this process's
  // heap, whose collector 40 vectors a question keep busy.
  query.refineFactor(1)
  return exact ? query.bypassVectorIndex() : query
}

/** A match query over one column. */
export const matchQuery = (words: string, column: string) => new lancedb.MatchQuery(words, column)

/**
 * Runs a call of LanceDB; what it throws becomes a RagError that says what was being done.
 *
 * LanceDB cannot be called back: an interruption waits for the call under way, so that nothing is written after the end.
 */
export const attempt = <A>(stage: Stage, doing: string, call: () => Promise<A>): Effect.Effect<A, RagError> =>
  Effect.uninterruptible(Effect.tryPromise({ try: call, catch: (cause) => storeError(stage, doing, cause) }))

/** The same for writes: LanceDB refuses one of two that collide, and the same write again is right. */
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
 * What LanceDB's table hands its calls on to. Its own `add` and `execute` copy all that is written once more than this
 * does, and ask the disk for the schema each time. The version of LanceDB is pinned, for this is none of its documented
 * ways.
 */
interface NativeTable {
  readonly add: (bytes: Buffer, mode: "append") => Promise<lancedb.AddResult>
  readonly mergeInsert: (on: ReadonlyArray<string>) => NativeMerge
}
interface NativeMerge {
  readonly whenMatchedUpdateAll: () => NativeMerge
  readonly whenNotMatchedInsertAll: () => NativeMerge
  readonly execute: (bytes: Buffer) => Promise<lancedb.MergeResult>
}
const native = (table: Table): NativeTable => (table as unknown as { readonly inner: NativeTable }).inner

/** Writes rows, of which none is there. */
export const append = (table: Table, rows: ArrowTable): Promise<lancedb.AddResult> =>
  written(rows, (bytes) => native(table).add(bytes, "append"))

/** Writes rows, in the place of those that have the same key. */
export const upsert = (table: Table, key: string, rows: ArrowTable): Promise<lancedb.MergeResult> =>
  written(rows, (bytes) =>
    native(table).mergeInsert([key]).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute(bytes)
  )

const written = async <A>(rows: ArrowTable, write: (bytes: Buffer) => Promise<A>): Promise<A> => {
  const bytes = tableToIPC(rows, "file")
  const result = await write(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  giveBack(bytes)
  for (const { data } of rows.batches) giveBackColumn(data)
  return result
}

/** V8 would keep memory until it next looks, and look more often for its sake. What others have a part of stays. */
const giveBack = ({ buffer, byteLength }: ArrayBufferView): void => {
  if (buffer instanceof ArrayBuffer && byteLength > 0 && byteLength === buffer.byteLength) buffer.transfer(0)
}

const giveBackColumn = ({ children, valueOffsets, values }: Data): void => {
  for (const part of [valueOffsets, values]) if (ArrayBuffer.isView(part)) giveBack(part)
  children.forEach(giveBackColumn)
}

/** Of a table that is not there, or has no version. */
export const isMissing = ({ cause }: RagError): boolean => /not found|does not exist/i.test(String(cause))

/**
 * The table of that name, made where there is none.
 *
 * Of two that make a table at once LanceDB lets the second overwrite the first. In a folder it is therefore made aside
 * and moved to its place, which fails where another one is. On an object store it is made in place.
 */
export const openOrCreate = Effect.fn("Lance.openOrCreate")(function* (
  { connection, folder }: Store,
  { key, name, schema }: { readonly name: string; readonly schema: Schema; readonly key: string }
) {
  const open = attempt("open", `opening table ${name}`, () => connection.openTable(name))
  const makeIn = async (place: Connection) => {
    const made = await place.createEmptyTable(name, schema)
    await setKey(folder, made, key)
    made.close()
  }
  const make = attempt("open", `making table ${name}`, () =>
    isRemote(folder) ? makeIn(connection) : makeAside(folder, name, makeIn)
  )
  return yield* open.pipe(
    Effect.catchIf(isMissing, () =>
      make.pipe(
        Effect.andThen(open),
        Effect.catch((error) => open.pipe(Effect.mapError(() => error)))
      )
    )
  )
})

const makeAside = async (
  folder: string,
  name: string,
  makeIn: (place: Connection) => Promise<void>
): Promise<void> => {
  const aside = await mkdtemp(join(folder, ".making-"))
  const place = await lancedb.connect(aside)
  try {
    await makeIn(place)
    await rename(join(aside, `${name}.lance`), join(folder, `${name}.lance`))
  } finally {
    place.close()
    await rm(aside, { recursive: true, force: true })
  }
}

/** LanceDB has no bound parameters: filters are text, and a quote in it is doubled. A backslash is itself. */
export const sqlString = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** `column IN ('…', '…')`. */
export const sqlIn = (column: string, values: ReadonlyArray<string>): string =>
  `\`${column}\` IN (${values.map(sqlString).join(", ")})`

const storeError = (stage: Stage, doing: string, cause: unknown): RagError => {
  const text = String(cause)
  const [reason, advice] = diagnose(text)
  // LanceDB adds where in its own sources it was, and says all of it again.
  const first = (text.split(/\n|, \/\S+\.rs:|Caused by:/)[0] ?? text).slice(0, 300).trim().replace(/\.$/, "")
  return new RagError({
    stage,
    reason,
    message: `The store failed while ${doing}: ${first}. ${advice}`,
    cause
  })
}

/** What LanceDB says of files that were cut short, overwritten or lost. */
const DAMAGE =
  /too small|corrupt|invalid|magic|unexpected (eof|end)|out of (range|bounds)|decode|not found|no such file|overflow|panic|checksum|fill whole buffer|eof while/i

/** What LanceDB Enterprise and object stores say to a wrong key … */
const REFUSED =
  /40[13] (unauthorized|forbidden)|access ?denied|invalid ?access ?key|signature ?does ?not ?match/i
/** … and LanceDB of a server that is not there. */
const UNREACHED = /hit retry limit|error sending request|connection refused|dns error/i

/** … and LanceDB of an address that is none it knows. */
const NO_PLACE = /no object store provider|could not parse bucket/i

const diagnose = (text: string): readonly [RagReason, string] => {
  if (NO_PLACE.test(text))
    return [
      "Malformed",
      "Give the path of a folder, or an address that begins with s3://, gs://, az:// or db://."
    ]
  // The last one is how LanceDB notices that a file of originals was cut short.
  if (
    /no space left|os error 28|ENOSPC|disk quota|file too large|os error 27|exceeds blob object size/i.test(
      text
    )
  )
    return ["NoSpace", "What was committed before is safe. Free some space and run it again."]
  if (/permission denied|os error 13|EACCES|EPERM|read-only file system|os error 30/i.test(text))
    return ["PermissionDenied", "Give this user the right to read and write the library's folder."]
  if (REFUSED.test(text))
    return [
      "PermissionDenied",
      "Check the key (`apiKey`, or the storage options) and what it may read and write."
    ]
  if (UNREACHED.test(text))
    return [
      "Store",
      "It was not reached, or did not answer. Check its address (`hostOverride`, `region`, or the storage options) and run it again; what was committed before is safe."
    ]
  if (DAMAGE.test(text))
    return [
      "Store",
      "A file of it is damaged or lost; other collections are whole. Where its documents can still be read, Library.rebuild makes it anew; else restore the folder from a copy, or ingest the documents again into another folder."
    ]
  return [
    "Store",
    "What was committed before is safe. Run it again; if it persists, restore the folder from a copy."
  ]
}
