/** The columns of every table. Changing one changes the format: see `FORMAT` in Manifest.ts. */
import { Field, FixedSizeList, Float32, Float64, Int32, Schema, Utf8 } from "apache-arrow"
import { blobField } from "./Lance.ts"

const text = (name: string, nullable = false) => new Field(name, new Utf8(), nullable)
const integer = (name: string) => new Field(name, new Int32(), true)

/** Whole texts as they are: a commit takes a quarter less CPU for it, and a table a third more room. */
const uncompressed = (name: string) =>
  new Field(name, new Utf8(), true, new Map([["lance-encoding:compression", "none"]]))

/** A list of `dimension` floats. */
export const vectorType = (dimension: number) =>
  new FixedSizeList(dimension, new Field("item", new Float32(), true))

/** Which table a collection's name stands for. Written last: moving a row is the switch. */
export const collectionsSchema = new Schema([
  text("name"),
  text("table"),
  text("manifest"),
  new Field("written", new Float64(), false)
])

/**
 * One table for all that must be true together.
 *
 * `<document>#<ordinal>` is a passage, `<document>#` the document itself: its passage, vector and search text are null,
 * so that recall never sees it. A row of kind `gone` is what is left of a passage that a shorter version no longer has.
 *
 * `passage` is JSON: all that a hit shows is one column, because a search pays for each column that it reads. What
 * filters look at has columns of its own.
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

/** Which version of which table a snapshot is; `id` is the JSON of the collection's name and its own. */
export const snapshotsSchema = new Schema([
  text("id"),
  text("collection"),
  text("name"),
  text("table"),
  new Field("version", new Float64(), false),
  text("manifest"),
  new Field("made", new Float64(), false)
])

/** Originals, by the SHA-256 of their bytes; `touched` in milliseconds since 1970. */
export const filesSchema = new Schema([
  text("sha256"),
  blobField("bytes"),
  new Field("touched", new Float64(), false)
])

/** Vectors that were paid for. */
export const vectorsSchema = (dimension: number) =>
  new Schema([text("sha256"), new Field("vector", vectorType(dimension), false)])
