/**
 * Brings collections of older formats to the present one, without embedding: their vectors stay as they are.
 *
 * A change of `FORMAT` adds a step here. A step turns a row of one format into a row of the next, so that each format reaches
 * the present one by all steps in order, in one pass. A rebuild that was killed is continued with copies of its rows.
 */
import { createHash } from "node:crypto"
import type { RecordBatch } from "apache-arrow"
import { Effect } from "effect"
import type { Passage } from "../../document/Document.ts"
import { RagError } from "../../document/RagError.ts"
import { embeddedText, searchText } from "../../document/SearchText.ts"
import { encodeManifest, FORMAT, type Manifest } from "../Manifest.ts"
import { attempt, type Connection, type Table, withTable } from "./Lance.ts"
import type { LanceNames } from "./LanceNames.ts"
import { PASSAGES } from "./LanceTables.ts"
import { settleIndex } from "./LanceVectorIndex.ts"

/** The columns of a row by their names. */
type Row = Readonly<Record<string, unknown>>

/** A passage had a column for each field, and no text for keyword search. */
const fromFormat1 = (row: Row): Row => {
  const { boxes, crop: _, end, headings, metadata, start, text, ...kept } = row
  if (row["kind"] === "document") return { ...kept, metadata }
  const { format, path, title } = JSON.parse(String(metadata))
  const { document: id, ordinal, page } = row
  const passage = {
    ordinal,
    text,
    start,
    end,
    headings: JSON.parse(String(headings)),
    ...(page !== null && { page }),
    ...(boxes !== null && { lines: JSON.parse(String(boxes)) })
  }
  return {
    ...kept,
    path,
    title,
    format,
    passage: JSON.stringify({ document: { id, path, title, format }, ...passage }),
    search: searchText(embeddedText(title, passage as unknown as Passage))
  }
}

/** The step from each format to the next, from format 1. */
const STEPS: ReadonlyArray<(row: Row) => Row> = [fromFormat1]

/** Whether a collection is of an older format that can be migrated. */
const isOlder = ({ format }: Manifest): boolean => format >= 1 && format < FORMAT

/** Rows of one write. */
const BATCH = 1_000

/** Copies the rows of a table into an empty one of the present format. Returns the version that was copied. */
const copyRows = (from: Table, to: Table, format: number) =>
  attempt("open", `migrating table ${from.name}`, async () => {
    const version = await from.version()
    const names = (await to.schema()).fields.map(({ name }) => name)
    let rows: Array<Row> = []
    const write = async () => {
      if (rows.length > 0) await to.add(rows)
      rows = []
    }
    for await (const batch of from.query().where(`kind = 'document' OR ${PASSAGES}`)) {
      for (const stored of batch.toArray()) {
        const row: Row = stored.toJSON()
        const vector = row["vector"] as { readonly toArray: () => Float32Array } | null
        const present = STEPS.slice(format - 1).reduce((now, step) => step(now), row)
        const columns = { ...present, vector: vector && Array.from(vector.toArray()) }
        rows.push(Object.fromEntries(names.map((name) => [name, Reflect.get(columns, name) ?? null])))
        if (rows.length === BATCH) await write()
      }
    }
    await write()
    return version
  })

/** Another process may write or migrate the collection. */
const TRIES = 5

const changed = (name: string) =>
  new RagError({
    stage: "open",
    reason: "Stale",
    message: `Collection "${name}" was written while it was migrated to format ${FORMAT}. Stop older versions of Sluice that use the folder, and open it again.`
  })

/**
 * Finds a collection by its name, and migrates it first if it is of an older format.
 *
 * **Details.** The rows are copied into a new table, and then the name is moved: a process that is killed before leaves the
 * collection as it was. The old table is dropped after a day. `makeTable` creates an empty table.
 */
export const findMigrated = Effect.fn("LanceMigrations.find")(function* (
  connection: Connection,
  names: LanceNames,
  name: string,
  makeTable: (manifest: Manifest) => Effect.Effect<string, RagError>
) {
  const openTable = (table: string) =>
    Effect.acquireRelease(
      attempt("open", `opening collection "${name}"`, () => connection.openTable(table)),
      (opened) => Effect.sync(() => opened.close())
    )
  const migrate = Effect.fnUntraced(function* (table: string, old: Manifest) {
    const manifest = { ...old, format: FORMAT }
    const next = yield* makeTable(manifest)
    const drop = Effect.ignore(attempt("open", `dropping table ${next}`, () => connection.dropTable(next)))
    const fill = Effect.gen(function* () {
      const [from, to] = [yield* openTable(table), yield* openTable(next)]
      const version = yield* copyRows(from, to, old.format)
      yield* settleIndex(to, manifest.dimension)
      const isUnchanged = Effect.flatMap(
        attempt("open", `reading the version of table ${table}`, () => from.version()),
        (now) => (now === version ? Effect.void : Effect.fail(changed(name)))
      )
      return yield* names.move(name, table, next, manifest, isUnchanged)
    }).pipe(Effect.scoped)
    if (!(yield* Effect.onError(fill, () => drop))) yield* drop
  })
  for (let tries = 0; tries < TRIES; tries++) {
    const found = yield* names.find(name)
    if (found === undefined || !isOlder(found.manifest)) return found
    const isStale = ({ reason }: RagError) => reason === "Stale"
    yield* Effect.catchIf(migrate(found.table, found.manifest), isStale, () => Effect.void)
  }
  return yield* changed(name)
})

/**
 * How the names of the tables begin that rebuild the same table with the same models: what one of them has embedded, the
 * next can use.
 */
export const rebuildPrefix = (name: string, table: string, manifest: Manifest): string =>
  `c_${createHash("sha256")
    .update(JSON.stringify([name, table, encodeManifest(manifest)]))
    .digest("hex")
    .slice(0, 16)}`

/** Rows of one write. Each leaves a file. */
const RESUMED_ROWS = 10_000

/**
 * Copies the rows of the longest rebuild that did not end into a new table.
 *
 * **Details.** A copy, because the other rebuild may be in progress in another process. Its table is dropped after a day.
 */
export const resumeRebuild = (connection: Connection, prefix: string, into: string) =>
  attempt("ingest", "continuing a rebuild", async () => {
    let longest = { name: "", rows: 0 }
    for (const name of await connection.tableNames({ limit: 100_000 })) {
      if (name === into || !name.startsWith(prefix)) continue
      const rows = await withTable(connection, name, (table) => table.countRows())
      if (rows > longest.rows) longest = { name, rows }
    }
    if (longest.rows === 0) return
    await withTable(connection, into, (to) =>
      withTable(connection, longest.name, async (from) => {
        let batches: Array<RecordBatch> = []
        const write = async () => {
          // The batches are of LanceDB's copy of Arrow, which `append` cannot write.
          const [first] = batches
          if (first !== undefined) await to.add({ schema: first.schema, batches })
          batches = []
        }
        for await (const batch of from.query().where("kind <> 'gone'")) {
          batches.push(batch)
          if (batches.reduce((sum, { numRows }) => sum + numRows, 0) >= RESUMED_ROWS) await write()
        }
        await write()
      })
    )
  })
