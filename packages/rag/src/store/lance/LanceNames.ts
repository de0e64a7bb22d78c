/** Which table a collection's name refers to, and how a rebuild moves the name without losing a write. */
import { Clock, Effect } from "effect"
import { sha256 } from "../../document/Hash.ts"
import { RagError } from "../../document/RagError.ts"
import { decodeManifest, encodeManifest, type Manifest, type StoredManifest } from "../Manifest.ts"
import { attemptWrite, isUnreadable, selectRows, sqlString, type Table } from "./Lance.ts"
import { readableRows } from "./LanceRepair.ts"
import { times, toTable, utf8 } from "./LanceRows.ts"
import { collectionsSchema } from "./LanceTables.ts"

/** A writer waits this long for an announced move. Then it cancels the move, because the process may have died. */
const MOVE_TIMEOUT_MILLIS = 5_000
const POLL_MILLIS = 50

type Merge = ReturnType<Table["mergeInsert"]>

export type LanceNames = ReturnType<typeof openNames>

export type NameRow = Readonly<Record<(typeof COLUMNS)[number], string>>
export const COLUMNS = ["name", "table", "manifest"] as const

/** Before the checksum of a row, which is the last field of its manifest. Earlier versions wrote none. */
const CHECK = ',"check":"'

const withCheck = (name: string, table: string, json: string): string =>
  `${json.slice(0, -1)}${CHECK}${sha256(JSON.stringify([name, table, json])).slice(0, 16)}"}`

/** False if its name, table or manifest may be another one. */
export const isIntact = ({ manifest, name, table }: NameRow): boolean => {
  const at = manifest.lastIndexOf(CHECK)
  return at < 0 || manifest === withCheck(name, table, `${manifest.slice(0, at)}}`)
}

/** `successor` is the table of an announced move. */
const findRow = Effect.fn("LanceNames.find")(function* (collections: Table, name: string) {
  const doing = ["open", `looking up collection "${name}"`] as const
  const own = `name = ${sqlString(name)}`
  const [row] = yield* selectRows<NameRow>(collections, doing, COLUMNS, own).pipe(
    Effect.catchIf(isUnreadable, (error) =>
      Effect.gen(function* () {
        // The damaged row may be another collection's. If it is this one's, the name must not seem to be free.
        const rows = yield* readableRows<NameRow>(collections, COLUMNS)
        return [rows.find((row) => row.name === name) ?? (yield* error)]
      })
    )
  )
  // Nor if it has another name by a flipped bit.
  const all = row === undefined ? yield* selectRows<NameRow>(collections, doing, COLUMNS) : []
  const found = row ?? all.find((other) => !isIntact(other) && isIntact({ ...other, name }))
  if (found === undefined) return undefined
  if (!isIntact(found)) return yield* damaged(name)
  const { successor, ...manifest } = yield* decodeManifest(name, found.manifest)
  return { table: found.table, manifest, successor, json: found.manifest }
})

const writeRow = Effect.fn("LanceNames.write")(function* (
  collections: Table,
  name: string,
  table: string,
  manifest: StoredManifest,
  configure: (merge: Merge) => Merge
) {
  const json = withCheck(name, table, encodeManifest(manifest))
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

/** Over the table `collections`. */
export const openNames = (collections: Table) => {
  const find = (name: string) => findRow(collections, name)
  /** Does nothing if the name exists. */
  const add = (name: string, table: string, manifest: Manifest) =>
    writeRow(collections, name, table, manifest, (merge) => merge.whenNotMatchedInsertAll())
  return {
    find,
    add,
    /** Replaces what the name refers to. */
    put: (name: string, table: string, manifest: Manifest) =>
      writeRow(collections, name, table, manifest, (merge) =>
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll()
      ),
    /**
     * Moves a name from one table, or none, to another. Fails with `Stale` if it refers to a third one by now. False if
     * a writer cancelled the move.
     *
     * **Details.** The move is announced, then `last` runs, then the name moves if the announcement is still there. A
     * writer checks the name after each commit (`settled`). It was acknowledged before the announcement, so `last` finds
     * what it wrote; or it waits for the move and fails; or it cancels the move.
     */
    move: Effect.fn("LanceNames.move")(function* (
      name: string,
      from: string | undefined,
      to: string,
      manifest: Manifest,
      last: Effect.Effect<void, RagError>
    ) {
      const found = yield* find(name)
      if (found?.table !== from) return yield* stale(name)
      if (found === undefined) {
        yield* last
        return (yield* add(name, to, manifest)).done
      }
      const { table } = found
      const successor = { ...found.manifest, successor: to }
      const announced = yield* exchangeRow(collections, name, found, table, successor)
      if (!announced.done) return false
      const row = { table, json: announced.json }
      const cancel = Effect.ignore(exchangeRow(collections, name, row, table, found.manifest))
      yield* Effect.onError(last, () => cancel)
      return (yield* exchangeRow(collections, name, row, to, manifest)).done
    }),
    /** Succeeds once a table that was written is sure to stay the collection's. Otherwise fails with `Stale`. */
    settled: Effect.fnUntraced(function* (name: string, table: string) {
      for (let waited = 0; ; waited += POLL_MILLIS) {
        const found = yield* find(name)
        if (found !== undefined && found.table !== table) return yield* stale(name)
        if (found?.successor === undefined) return
        const cancel = exchangeRow(collections, name, found, table, found.manifest)
        if (waited >= MOVE_TIMEOUT_MILLIS && (yield* cancel).done) return
        yield* Effect.sleep(POLL_MILLIS)
      }
    })
  }
}

const damaged = (name: string): RagError => {
  const message = `The row of collection "${name}" is damaged. Restore \`collections.lance\` from a copy.`
  return new RagError({ stage: "open", reason: "Damaged", message })
}

const stale = (name: string): RagError => {
  const message = `Collection "${name}" was rebuilt or restored during the write, which may be lost. Run it again.`
  return new RagError({ stage: "store", reason: "Stale", message })
}
