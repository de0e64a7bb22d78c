/** The columns of every table. Changing one changes `FORMAT` in Manifest.ts. */
import { Field, FixedSizeList, Float32, Float64, Int32, Schema, Utf8 } from "apache-arrow"
import { blobField } from "./Lance.ts"

const text = (name: string, nullable = false) => new Field(name, new Utf8(), nullable)
const integer = (name: string) => new Field(name, new Int32(), true)

/** Uncompressed texts: a commit takes a quarter less CPU, a table a third more space. */
const uncompressed = (name: string) =>
  new Field(name, new Utf8(), true, new Map([["lance-encoding:compression", "none"]]))

export const vectorType = (dimension: number) =>
  new FixedSizeList(dimension, new Field("item", new Float32(), true))

/** Which table a collection's name refers to. Written last: updating this row switches to another table. */
export const collectionsSchema = new Schema([
  text("name"),
  text("table"),
  text("manifest"),
  new Field("written", new Float64(), false)
])

/**
 * Documents and passages, in one table because LanceDB commits one table at a time.
 *
 * The id of a passage is `<document>#<ordinal>`, of a document `<document>#`. A document's passage, vector and search text
 * are null, so that no search finds it. A row of kind `gone` replaces a passage that a shorter version no longer has.
 *
 * `passage` is JSON in one column, because a search pays for each column that it reads. Fields of filters have their own
 * columns.
 */
export const passagesSchema = (dimension: number) =>
  new Schema([
    text("id"),
    text("document"),
    text("kind"),
    integer("ordinal"),
    text("hash", true),
    new Field("vector", vectorType(dimension), true),
    integer("page"),
    text("path", true),
    text("title", true),
    text("format", true),
    uncompressed("passage"),
    uncompressed("search"),
    text("metadata", true)
  ])

export const DOCUMENTS = "kind = 'document'"
/** Rows that are passages of any kind. */
export const PASSAGES = "kind NOT IN ('document', 'gone')"
export const NO_PASSAGES = "kind IN ('document', 'gone')"

/** Snapshots: a version of a table. `id` is the JSON of the collection's name and the snapshot's. */
export const snapshotsSchema = new Schema([
  text("id"),
  text("collection"),
  text("name"),
  text("table"),
  new Field("version", new Float64(), false),
  text("manifest"),
  new Field("made", new Float64(), false)
])

/** Original files by the SHA-256 of their bytes. `touched` is in milliseconds since 1970. */
export const filesSchema = new Schema([
  text("sha256"),
  blobField("bytes"),
  new Field("touched", new Float64(), false)
])

export const vectorsSchema = (dimension: number) =>
  new Schema([text("sha256"), new Field("vector", vectorType(dimension), false)])
