/** Which table a collection's name refers to, and how a rebuild moves the name without losing a write. */
import { Clock, Effect } from "effect"
import { RagError } from "../../document/RagError.ts"
import { decodeManifest, encodeManifest, type Manifest, type StoredManifest } from "../Manifest.ts"
import { attemptWrite, selectRows, sqlString, type Table } from "./Lance.ts"
import { times, toTable, utf8 } from "./LanceRows.ts"
import { collectionsSchema } from "./LanceTables.ts"

/** A writer waits this long for an announced move. Then it cancels the move, because the process may have died. */
const MOVE_TIMEOUT_MILLIS = 5_000
const POLL_MILLIS = 50

type Merge = ReturnType<Table["mergeInsert"]>

/** A row of the table `collections`. `successor` is the table of an announced move. */
interface NameRow {
  readonly table: string
  readonly manifest: Manifest
  readonly successor: string | undefined
  readonly json: string
}

/** The table `collections`. */
export interface LanceNames {
  readonly find: (name: string) => Effect.Effect<NameRow | undefined, RagError>
  /** Replaces what the name refers to. */
  readonly put: (name: string, table: string, manifest: Manifest) => Effect.Effect<unknown, RagError>
  /** Does nothing if the name exists. */
  readonly add: (name: string, table: string, manifest: Manifest) => Effect.Effect<unknown, RagError>
  /**
   * Moves a name from one table, or none, to another. Fails with `Stale` if it refers to a third one by now. False if
   * a writer cancelled the move.
   *
   * **Details.** The move is announced, then `last` runs, then the name moves if the announcement is still there. A writer
   * checks the name after each commit (`settled`). It was acknowledged before the announcement, so `last` finds what it
   * wrote; or it waits for the move and fails; or it cancels the move.
   */
  readonly move: (
    name: string,
    from: string | undefined,
    to: string,
    manifest: Manifest,
    last: Effect.Effect<void, RagError>
  ) => Effect.Effect<boolean, RagError>
  /** Succeeds once a table that was written is sure to stay the collection's. Otherwise fails with `Stale`. */
  readonly settled: (name: string, table: string) => Effect.Effect<void, RagError>
}

const findRow = Effect.fn("LanceNames.find")(function* (collections: Table, name: string) {
  const [row] = yield* selectRows<{ readonly table: string; readonly manifest: string }>(
    collections,
    ["open", `looking up collection "${name}"`],
    ["table", "manifest"],
    `name = ${sqlString(name)}`
  )
  if (row === undefined) return undefined
  const { successor, ...manifest } = yield* decodeManifest(name, row.manifest)
  return { table: row.table, manifest, successor, json: row.manifest } satisfies NameRow
})

const writeRow = Effect.fn("LanceNames.write")(function* (
  collections: Table,
  name: string,
  table: string,
  manifest: StoredManifest,
  configure: (merge: Merge) => Merge
) {
  const json = encodeManifest(manifest)
  const row = toTable(collectionsSchema, 1, [
    utf8([name]),
    utf8([table]),
    utf8([json]),
    times([yield* Clock.currentTimeMillis])
  ])
  const { numInsertedRows, numUpdatedRows } = yield* attemptWrite("open", `naming collection "${name}"`, () =>
    configure(collections.mergeInsert("name")).execute(row)
  )
  return { json, done: numInsertedRows + numUpdatedRows > 0 }
})

/** Writes the row only if it has not changed. */
const exchangeRow = (
  collections: Table,
  name: string,
  was: { readonly table: string; readonly json: string },
  table: string,
  manifest: StoredManifest
) =>
  writeRow(collections, name, table, manifest, (merge) =>
    merge.whenMatchedUpdateAll({
      where: `target.\`table\` = ${sqlString(was.table)} AND target.manifest = ${sqlString(was.json)}`
    })
  )

export const openNames = (collections: Table): LanceNames => {
  const find = (name: string) => findRow(collections, name)
  const add = (name: string, table: string, manifest: Manifest) =>
    writeRow(collections, name, table, manifest, (merge) => merge.whenNotMatchedInsertAll())
  return {
    find,
    add,
    put: (name, table, manifest) =>
      writeRow(collections, name, table, manifest, (merge) =>
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll()
      ),
    move: Effect.fn("LanceNames.move")(function* (name, from, to, manifest, last) {
      const found = yield* find(name)
      if (found?.table !== from) return yield* stale(name)
      if (found === undefined) {
        yield* last
        return (yield* add(name, to, manifest)).done
      }
      const { table } = found
      const announced = yield* exchangeRow(collections, name, found, table, {
        ...found.manifest,
        successor: to
      })
      if (!announced.done) return false
      const row = { table, json: announced.json }
      const cancel = Effect.ignore(exchangeRow(collections, name, row, table, found.manifest))
      yield* Effect.onError(last, () => cancel)
      return (yield* exchangeRow(collections, name, row, to, manifest)).done
    }),
    settled: Effect.fnUntraced(function* (name, table) {
      for (let waited = 0; ; waited += POLL_MILLIS) {
        const found = yield* find(name)
        if (found !== undefined && found.table !== table) return yield* stale(name)
        if (found?.successor === undefined) return
        if (
          waited >= MOVE_TIMEOUT_MILLIS &&
          (yield* exchangeRow(collections, name, found, table, found.manifest)).done
        )
          return
        yield* Effect.sleep(POLL_MILLIS)
      }
    })
  }
}

const stale = (name: string): RagError => {
  const message = `Collection "${name}" was rebuilt or restored during the write, which may be lost. Run it again.`
  return new RagError({ stage: "store", reason: "Stale", message })
}
