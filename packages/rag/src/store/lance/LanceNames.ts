/** Which table a collection's name stands for, and how it comes to stand for another one without a loss. */
import { Clock, Effect } from "effect"
import { decodeManifest, encodeManifest, type Manifest, type StoredManifest } from "../Manifest.ts"
import { RagError } from "../../document/RagError.ts"
import { attempt, attemptWrite, sqlString, type Table } from "./Lance.ts"
import { times } from "./LanceFiles.ts"
import { toTable, utf8 } from "./LanceRows.ts"
import { collectionsSchema } from "./LanceTables.ts"

/** So long a writer waits for a switch that was announced; then it calls it off, for whoever announced it may be dead. */
const SWITCH_MILLIS = 5_000
const LOOK_MILLIS = 50

/** Over the table `collections`. */
export const openNames = (collections: Table) => {
  const find = Effect.fn("LanceNames.find")(function* (name: string) {
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
    if (row === undefined) return undefined
    const { successor, ...manifest } = yield* decodeManifest(name, row.manifest)
    return { table: row.table, manifest, successor, json: row.manifest }
  })

  const write = Effect.fn("LanceNames.write")(function* (
    name: string,
    table: string,
    manifest: StoredManifest,
    how: (merge: ReturnType<Table["mergeInsert"]>) => ReturnType<Table["mergeInsert"]>
  ) {
    const json = encodeManifest(manifest)
    const row = toTable(collectionsSchema, 1, [
      utf8([name]),
      utf8([table]),
      utf8([json]),
      times([yield* Clock.currentTimeMillis])
    ])
    const { numInsertedRows, numUpdatedRows } = yield* attemptWrite(
      "open",
      `naming collection "${name}"`,
      () => how(collections.mergeInsert("name")).execute(row)
    )
    return { json, done: numInsertedRows + numUpdatedRows > 0 }
  })

  /** Over whatever is there. */
  const put = (name: string, table: string, manifest: Manifest) =>
    write(name, table, manifest, (merge) => merge.whenMatchedUpdateAll().whenNotMatchedInsertAll())

  /** Only where the name is new. */
  const add = (name: string, table: string, manifest: Manifest) =>
    write(name, table, manifest, (merge) => merge.whenNotMatchedInsertAll())

  /** Only over this row as it is. */
  const exchange = (
    name: string,
    was: { readonly table: string; readonly json: string },
    table: string,
    manifest: StoredManifest
  ) =>
    write(name, table, manifest, (merge) =>
      merge.whenMatchedUpdateAll({
        where: `target.\`table\` = ${sqlString(was.table)} AND target.manifest = ${sqlString(was.json)}`
      })
    )

  /**
   * The name moves from one table, or none, to another, unless it stands for a third by now, which fails with `Stale`.
   *
   * **Details.** The switch is announced, then `last` runs, then the name moves if the announcement still stands. A writer
   * looks at the name after each commit (`settled`): it was acknowledged before the announcement, so that `last` finds
   * what it wrote, or it waits and is told, or it called the switch off, and the name does not move.
   */
  const move = Effect.fn("LanceNames.move")(function* (
    name: string,
    from: string | undefined,
    to: string,
    manifest: Manifest,
    last: Effect.Effect<void, RagError>
  ) {
    const found = yield* find(name)
    if (found?.table !== from) return yield* movedAway(name)
    if (found === undefined) {
      yield* last
      return (yield* add(name, to, manifest)).done
    }
    const announced = yield* exchange(name, found, found.table, { ...found.manifest, successor: to })
    if (!announced.done) return false
    const there = { table: found.table, json: announced.json }
    const callOff = Effect.ignore(exchange(name, there, found.table, found.manifest))
    yield* Effect.onError(last, () => callOff)
    return (yield* exchange(name, there, to, manifest)).done
  })

  /** Succeeds when what was just written to a table stands in the collection for good. Else fails with `Stale`. */
  const settled = Effect.fnUntraced(function* (name: string, table: string) {
    for (let waited = 0; ; waited += LOOK_MILLIS) {
      const found = yield* find(name)
      if (found !== undefined && found.table !== table) return yield* movedAway(name)
      if (found?.successor === undefined) return
      if (waited >= SWITCH_MILLIS && (yield* exchange(name, found, table, found.manifest)).done) return
      yield* Effect.sleep(LOOK_MILLIS)
    }
  })

  return { find, put, add, move, settled }
}

const movedAway = (name: string): RagError =>
  new RagError({
    stage: "store",
    reason: "Stale",
    message: `Collection "${name}" was rebuilt or restored meanwhile: what was being written may not be in it. Run it again.`
  })
