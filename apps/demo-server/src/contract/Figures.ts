/** Figures and tables of a document, their images, and pages as images. */
import { MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { BoxSchema } from "./Document.ts"
import { collectionQuery } from "./Documents.ts"

/** Boxes drawn on one image at most. */
export const MAX_BOXES = 500

/** Width of a page image, in pixels. */
export const PAGE_WIDTH = { least: 64, most: 2400, usual: 1240 } as const

/** A figure or a table. `start` to `end` span its caption and the text in it, as offsets in the document's text. */
export const FigureInfo = Schema.Struct({
  /** 1, 2, 3 … within the document. */
  n: Schema.Int,
  kind: Schema.Literals(["figure", "table"]),
  /** From the caption, such as `3` or `IV`; absent without one. */
  number: Schema.optionalKey(Schema.String),
  /** Empty without one. */
  caption: Schema.String,
  start: Schema.Int,
  end: Schema.Int,
  text: Schema.String,
  page: Schema.optionalKey(Schema.Int),
  box: Schema.optionalKey(BoxSchema),
  passageId: Schema.String,
  /** Path of its image; absent without one. */
  crop: Schema.optionalKey(Schema.String)
})
export type FigureInfo = typeof FigureInfo.Type

const coordinates = String.raw`-?\d{1,6}(?:\.\d{1,6})?(?:,-?\d{1,6}(?:\.\d{1,6})?){3}`
const Boxes = Schema.String.check(
  Schema.isPattern(new RegExp(`^${coordinates}(?:;${coordinates}){0,${MAX_BOXES - 1}}$`), {
    message: `up to ${MAX_BOXES} boxes \`x0,y0,x1,y1\` in points from the top left, separated by \`;\``
  })
)
const offset = Schema.optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const png = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/png" }))
const image = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/*" }))

export class FiguresGroup extends HttpApiGroup.make("figures")
  .add(
    /** In document order. */
    HttpApiEndpoint.get("figures", "/documents/:id/figures", {
      params: { id: Schema.String },
      query: collectionQuery,
      success: Schema.Struct({ figures: Schema.Array(FigureInfo) })
    }),
    /** PNG, JPEG or WebP. `figure` is its `n`, or the SHA-256 of its image as in citations, which is cacheable. */
    HttpApiEndpoint.get("crop", "/documents/:id/figures/:figure/crop", {
      params: { id: Schema.String, figure: Schema.String },
      query: collectionQuery,
      success: image
    }),
    /**
     * A page as an image, `width` pixels wide, with `boxes` drawn on it, or the boxes of the lines between the text
     * offsets `from` and `to`. An image document has one page, itself. Other unpaged documents have none.
     */
    HttpApiEndpoint.get("pageImage", "/documents/:id/pages/:number/image", {
      params: { id: Schema.String, number: Schema.Int },
      query: {
        ...collectionQuery,
        boxes: Schema.optionalKey(Boxes),
        from: offset,
        to: offset,
        width: Schema.optionalKey(
          Schema.Int.check(Schema.isBetween({ minimum: PAGE_WIDTH.least, maximum: PAGE_WIDTH.most }))
        )
      },
      success: png
    })
  )
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access)
  .middleware(MalformedRequest) {}
