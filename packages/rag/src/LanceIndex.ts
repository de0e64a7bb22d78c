/** The store: LanceDB tables in a folder, or on an object store. */
import { randomUUID } from "node:crypto"
import { mkdir } from "node:fs/promises"
import { Clock, Effect, Layer } from "effect"
import { PassageIndex, type Replacement } from "./PassageIndex.ts"
import {
  attempt,
  attemptWrite,
  connect,
  type Connection,
  isRemote,
  keywordIndex,
  openOrCreate,
  sqlString
} from "./lance/Lance.ts"
import { collectionOf } from "./lance/LanceCollection.ts"
import { collectGarbage } from "./lance/LanceGarbage.ts"
import { openFiles, times } from "./lance/LanceFiles.ts"
import { toTable, utf8 } from "./lance/LanceRows.ts"
import { collectionsSchema, passagesSchema } from "./lance/LanceTables.ts"
import { openVectors } from "./lance/LanceVectors.ts"
import { checkManifest, decodeManifest, encodeManifest, type Manifest } from "./Manifest.ts"
import { RagError } from "./RagError.ts"

/**
 * The store in a folder, which is made where there is none; or on an object store (`s3://`, `gs://`, `az://`).
 *
 * **Gotchas.** Any number of processes may read and write the same folder: each sees the commits of the others.
 */
const make = Effect.fn("LanceIndex.make")(function* (folder: string) {
  if (!isRemote(folder)) yield* makeFolder(folder)
  const connection = yield* connect(folder)
  const store = { connection, folder }
  const files = yield* openFiles(store)
  const collections = yield* openOrCreate(store, {
    name: "collections",
    schema: collectionsSchema,
    key: "name"
  })

  const garbage = collectGarbage(connection, collections, files)

  const named = Effect.fn("LanceIndex.named")(function* (name: string) {
    const rows: ReadonlyArray<{ readonly table: string; readonly manifest: string }> = yield* attempt(
      "open",
      `looking up collection "${name}"`,
      () =>
        collections
          .query()
          .where(`name = ${sqlString(name)}`)
          .select(["table", "manifest"])
          .toArray()
    )
    const row = rows[0]
    return row && { table: row.table, manifest: yield* decodeManifest(name, row.manifest) }
  })

  const write = Effect.fn("LanceIndex.write")(function* (
    name: string,
    table: string,
    manifest: Manifest,
    over: boolean
  ) {
    const now = yield* Clock.currentTimeMillis
    const row = toTable(collectionsSchema, 1, [
      utf8([name]),
      utf8([table]),
      utf8([encodeManifest(manifest)]),
      times([now])
    ])
    const merge = collections.mergeInsert("name").whenNotMatchedInsertAll()
    yield* attemptWrite("open", `naming collection "${name}"`, () =>
      (over ? merge.whenMatchedUpdateAll() : merge).execute(row)
    )
  })

  const openTable = (name: string, table: string, manifest: Manifest) =>
    attempt("open", `opening collection "${name}"`, () => connection.openTable(table)).pipe(
      Effect.flatMap((opened) => collectionOf(name, manifest, opened, files, garbage))
    )

  const open = Effect.fn("LanceIndex.open")(function* (name: string, manifest: Manifest) {
    let found = yield* named(name)
    if (found === undefined) {
      yield* write(name, yield* makeTable(connection, manifest), manifest, false)
      // Whoever was first: another process may have written this row in between.
      found = yield* named(name)
    }
    if (found === undefined) {
      return yield* new RagError({
        stage: "open",
        reason: "Store",
        message: `Collection "${name}" was written and is not there. Is the folder on a file system that keeps what is written?`
      })
    }
    yield* checkManifest(name, found.manifest, manifest)
    return yield* openTable(name, found.table, manifest)
  })

  const replace = Effect.fn("LanceIndex.replace")(function* (name: string, manifest: Manifest) {
    const found = yield* named(name)
    const table = yield* makeTable(connection, manifest)
    return {
      current: found && (yield* openTable(name, found.table, found.manifest)),
      next: yield* openTable(name, table, manifest),
      publish: write(name, table, manifest, true)
    } satisfies Replacement
  })

  const names = attempt("open", "listing the collections", async () => {
    const rows: ReadonlyArray<{ readonly name: string }> = await collections
      .query()
      .select(["name"])
      .toArray()
    return rows.map(({ name }) => name).toSorted()
  }).pipe(Effect.withSpan("LanceIndex.collections"))

  return PassageIndex.of({
    open,
    replace,
    collections: names,
    vectors: (model, dimension) => openVectors(store, model, dimension)
  })
})

/** `LanceIndex.layer(folder)`: a `PassageIndex` on LanceDB. */
export const LanceIndex = {
  layer: (folder: string): Layer.Layer<PassageIndex, RagError> => Layer.effect(PassageIndex, make(folder))
}

const makeTable = Effect.fn("LanceIndex.makeTable")(function* (connection: Connection, manifest: Manifest) {
  const name = `c_${randomUUID().replaceAll("-", "")}`
  yield* attempt("open", "making a table", async () => {
    const table = await connection.createEmptyTable(name, passagesSchema(manifest.dimension))
    // Without this, two writers of one new document leave it twice, in silence.
    await table.setUnenforcedPrimaryKey("id")
    await table.createIndex("search", { config: keywordIndex() })
  })
  return name
})

const makeFolder = (folder: string): Effect.Effect<void, RagError> =>
  Effect.tryPromise({
    try: () => mkdir(folder, { recursive: true }),
    catch: (cause) => {
      const code = (cause as NodeJS.ErrnoException).code
      const denied = code === "EACCES" || code === "EPERM" || code === "EROFS"
      return new RagError({
        stage: "open",
        reason: denied ? "PermissionDenied" : code === "ENOSPC" ? "NoSpace" : "Store",
        message: `The folder ${folder} cannot be made (${code}). Choose one that this user may write.`,
        cause
      })
    }
  })
