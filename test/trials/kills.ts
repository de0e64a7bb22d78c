/**
 * Kills a writer repeatedly at random moments while its documents change. After the last complete run,
 * the collection must have the same rows and vectors as that of an undisturbed writer.
 */
import { connect } from "@lancedb/lancedb"
import { must, type Trial } from "./Trial.ts"
import { setTimeout as sleep } from "node:timers/promises"
import { deepStrictEqual } from "node:assert"
import { LibraryFolder } from "./LibraryFolder.ts"

const SLOTS = 16

/** Rows by id: passages with text, position and vector; documents with all their fields. */
const rowsOf = async (library: string): Promise<ReadonlyMap<string, Record<string, unknown>>> => {
  const connection = await connect(library)
  try {
    const [named] = await (await connection.openTable("collections")).query().select(["table"]).toArray()
    const table = await connection.openTable((named as { readonly table: string }).table)
    const rows = new Map<string, Record<string, unknown>>()
    for (const row of await table.query().where("kind <> 'gone'").toArray()) {
      const { id, vector, ...columns } = row.toJSON() as Record<string, unknown>
      must(!rows.has(id as string), () => `${String(id)} is there twice`)
      const numbers = vector === null ? null : Array.from(vector as Iterable<number>)
      rows.set(id as string, { ...columns, vector: numbers })
    }
    return rows
  } finally {
    connection.close()
  }
}

/** Kills the writers of one library `count` times. */
export const kills =
  (count: number): Trial =>
  async (random) => {
    const folder = await LibraryFolder.make()
    const undisturbed = await LibraryFolder.make(folder)
    undisturbed.library = `${folder.library}-undisturbed`
    try {
      // Measures a whole ingest, so that the kills cover all of it.
      for (let slot = 0; slot < SLOTS; slot++) await folder.write(slot, random.between(1, 1_000_000))
      const started = performance.now()
      must((await undisturbed.ingest().ended).ok, () => "the undisturbed ingest failed")
      const whole = performance.now() - started
      for (let kill = 0; kill < count; kill++) {
        await folder.change(random, SLOTS)
        // Plain ingests, ingests with cached vectors, and applied plans alternate on one collection.
        const { child, ended } = folder.ingest(random.pick(["plain", "paid", "apply"]))
        await Promise.race([sleep(whole * (0.2 + random.next())), ended])
        child.kill("SIGKILL")
        await ended
      }
      for (const { ok, errors } of [await folder.ingest().ended, await undisturbed.ingest().ended])
        must(ok, () => `the last ingest failed: ${errors}`)
      const [rows, due] = [await rowsOf(folder.library), await rowsOf(undisturbed.library)]
      deepStrictEqual([...rows.keys()].toSorted(), [...due.keys()].toSorted())
      for (const [id, row] of due) deepStrictEqual(rows.get(id), row, `${id} is not as it should be`)
      must(due.size > SLOTS / 2, () => "nothing was ingested")
    } finally {
      await folder.remove()
    }
  }
