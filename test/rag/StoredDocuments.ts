/** Documents made from texts, and a store for them. */
import { connect } from "@lancedb/lancedb"
import type { Metadata } from "@sluice/rag"
import { type IndexedDocument, LanceIndex, PassageIndex, type StoredDocument } from "@sluice/rag/store"
import { Context, Effect, Layer } from "effect"
import { createHash } from "node:crypto"
import { DIMENSION, embedText } from "./Models.ts"

export const MANIFEST = { format: 2, embeddingModel: "test-words", dimension: DIMENSION, chunker: "test" }

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** A document with a passage for each text, embedded by its words. */
export const documentOf = (
  path: string,
  texts: ReadonlyArray<string>,
  more: {
    readonly replaces?: StoredDocument | undefined
    readonly metadata?: Metadata | undefined
    readonly title?: string
    readonly pages?: ReadonlyArray<number | undefined>
    readonly kinds?: ReadonlyArray<"figure" | "table" | undefined>
  } = {}
): IndexedDocument => {
  const hash = sha256(texts.join("\n"))
  return {
    info: {
      id: sha256(path).slice(0, 32),
      path,
      title: more.title ?? path,
      format: "text",
      bytes: texts.join("").length,
      sha256: hash,
      passages: texts.length,
      ...(more.metadata === undefined ? {} : { metadata: more.metadata })
    },
    source: "",
    original: new TextEncoder().encode(texts.join("\n")),
    attachments: new Map(),
    passages: texts.map((text, ordinal) => {
      const [page, kind] = [more.pages?.[ordinal], more.kinds?.[ordinal]]
      const vector = embedText(text)
      return {
        passage: {
          ordinal,
          start: 0,
          end: text.length,
          text,
          headings: [],
          lines: [],
          ...(page === undefined ? {} : { page }),
          ...(kind === undefined ? {} : { figure: { kind, caption: "" } })
        },
        hash: sha256(`${path}${ordinal}${text}`),
        vector: vector.some((value) => value !== 0) ? vector : undefined,
        search: text
      }
    }),
    replaces: more.replaces
  }
}

/** Another connection to the same folder, as in another process. */
export const storeIn = (folder: string) =>
  Effect.map(Layer.build(LanceIndex.layer(folder)), (store) => Context.get(store, PassageIndex))

export const collectionIn = (folder: string) =>
  Effect.flatMap(storeIn(folder), (index) => index.open("default", MANIFEST))

/** The table of the first collection of a folder, past the library. */
export const passagesIn = async (library: string) => {
  const connection = await connect(library, { readConsistencyInterval: 0 })
  const names = await connection.tableNames()
  return connection.openTable(names.find((name) => name.startsWith("c_"))!)
}
