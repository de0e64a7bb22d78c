/** The table that names the collections of a library's folder. */
import { connect } from "@lancedb/lancedb"
import { Effect } from "effect"

/** The chunkers that the collections were made with. */
export const chunkersOf = (library: string) =>
  Effect.promise(async () => {
    const connection = await connect(library)
    const rows = await (await connection.openTable("collections")).query().toArray()
    connection.close()
    return rows.map(({ manifest }) => JSON.parse(manifest).chunker as string)
  })

/** Marks the collections as made by the chunker of an earlier version, which wrote no checksum of a row. */
export const ageCollections = (library: string) =>
  Effect.promise(async () => {
    const connection = await connect(library)
    const collections = await connection.openTable("collections")
    for (const { manifest, name } of await collections.query().toArray()) {
      const old = JSON.stringify({ ...JSON.parse(manifest), chunker: "headings-0", check: undefined })
      await collections.update({ where: `name = '${name}'`, values: { manifest: old } })
    }
    connection.close()
  })
