/** What is to be seen of a document: its figures and tables, their crops, and its pages as images. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { Box } from "./Document.ts"
import { query } from "./Documents.ts"

/** Boxes of one image at most. */
export const MAX_BOXES = 500

/** Pixels across a page image. */
export const PAGE_WIDTH = { least: 64, most: 2400, usual: 1240 } as const

/** A figure or a table. `start` to `end` is its caption and what is written in it, in the document's text. */
export const FigureInfo = Schema.Struct({
  /** 1, 2, 3 … within the document. */
  n: Schema.Int,
  kind: Schema.Literals(["figure", "table"]),
  /** As the caption says it; absent where it has none. */
  number: Schema.optionalKey(Schema.String),
  /** Empty where there is none. */
  caption: Schema.String,
  start: Schema.Int,
  end: Schema.Int,
  text: Schema.String,
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(Box),
  passageId: Schema.String,
  /** Where its picture is; absent where it has none. */
  crop: Schema.optionalKey(Schema.String)
})
export type FigureInfo = typeof FigureInfo.Type

const four = String.raw`-?\d{1,6}(?:\.\d{1,6})?(?:,-?\d{1,6}(?:\.\d{1,6})?){3}`
const Boxes = Schema.String.check(
  Schema.isPattern(new RegExp(`^${four}(?:;${four}){0,${MAX_BOXES - 1}}$`), {
    message: `up to ${MAX_BOXES} boxes \`x0,y0,x1,y1\` in points from the top left, with \`;\` between them`
  })
)
const offset = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const png = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/png" }))
const image = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/*" }))

export class Figures extends HttpApiGroup.make("figures")
  .add(
    /** In order of the text. */
    HttpApiEndpoint.get("figures", "/documents/:id/figures", {
      params: { id: Schema.String },
      query,
      success: Schema.Struct({ figures: Schema.Array(FigureInfo) }),
      error: failures
    }),
    /** PNG, JPEG or WebP. `figure` is its `n`, or the SHA-256 of its picture, as citations name it: that may be kept. */
    HttpApiEndpoint.get("crop", "/documents/:id/figures/:figure/crop", {
      params: { id: Schema.String, figure: Schema.String },
      query,
      success: image,
      error: failures
    }),
    /**
     * A page as it looks, `width` pixels across, with `boxes` drawn over it, or those of the lines from `from` to `to`
     * of the document's text. An image document is its own page 1. Other documents have no pages.
     */
    HttpApiEndpoint.get("pageImage", "/documents/:id/pages/:number/image", {
      params: { id: Schema.String, number: Schema.Int },
      query: {
        ...query,
        boxes: Schema.optionalKey(Boxes),
        from: offset,
        to: offset,
        width: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: PAGE_WIDTH.least, maximum: PAGE_WIDTH.most }))
        )
      },
      success: png,
      error: failures
    })
  )
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access)
  .middleware(MalformedRequest) {}
