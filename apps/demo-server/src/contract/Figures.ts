/** Figures and tables of a document, their images, and pages as images. */
import { between, field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { BoxSchema, spanFields } from "./Document.ts"
import { collectionQuery, documentParams, pageParams } from "./Documents.ts"

const { optionalKey } = Schema

/** Boxes drawn on one image at most. */
export const MAX_BOXES = 500

/** Width of a page image, in pixels. */
export const PAGE_WIDTH = { least: 64, most: 2400, usual: 1240 } as const

/** A figure or a table. `start` to `end` span its caption and the text in it, as offsets in the document's text. */
export const FigureInfo = Schema.Struct({
  n: field("1, 2, 3 … within the document.", Schema.Int),
  kind: field("A figure or a table.", Schema.Literals(["figure", "table"])),
  number: field("From the caption, such as `3` or `IV`.", optionalKey(Schema.String)),
  caption: field("The caption; empty without one.", Schema.String),
  ...spanFields,
  text: field("The caption and the text in the figure.", Schema.String),
  page: field("The page, from 1. Absent in documents without pages.", optionalKey(Schema.Int)),
  box: field("Its place on the page.", optionalKey(BoxSchema)),
  passageId: field("The id of its passage.", Schema.String),
  crop: field("Path of its image; absent without one.", optionalKey(Schema.String))
})
export type FigureInfo = typeof FigureInfo.Type

const coordinates = String.raw`-?\d{1,6}(?:\.\d{1,6})?(?:,-?\d{1,6}(?:\.\d{1,6})?){3}`
const Boxes = Schema.String.check(
  Schema.isPattern(new RegExp(`^${coordinates}(?:;${coordinates}){0,${MAX_BOXES - 1}}$`), {
    message: `up to ${MAX_BOXES} boxes \`x0,y0,x1,y1\` in points from the top left, separated by \`;\``
  })
)
const offset = optionalKey(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))

const png = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/png" }))
const image = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "image/*" }))

export class FiguresGroup extends HttpApiGroup.make("figures")
  .add(
    /** In document order. */
    HttpApiEndpoint.get("figures", "/documents/:id/figures", {
      params: documentParams,
      query: collectionQuery,
      success: Schema.Struct({ figures: field("The figures and tables.", Schema.Array(FigureInfo)) })
    }),
    /** PNG, JPEG or WebP. `figure` is its `n`, or the SHA-256 of its image as in citations, which is cacheable. */
    HttpApiEndpoint.get("crop", "/documents/:id/figures/:figure/crop", {
      params: {
        ...documentParams,
        figure: field("Its `n`, or the SHA-256 of its image.", Schema.String)
      },
      query: collectionQuery,
      success: image
    }),
    /**
     * A page as an image, `width` pixels wide, with `boxes` drawn on it, or the boxes of the lines between the text
     * offsets `from` and `to`. An image document has one page, itself. Other unpaged documents have none.
     */
    HttpApiEndpoint.get("pageImage", "/documents/:id/pages/:number/image", {
      params: pageParams,
      query: {
        ...collectionQuery,
        boxes: field(
          "Boxes to draw: `x0,y0,x1,y1` in points, separated by `;`; at most 500.",
          optionalKey(Boxes)
        ),
        from: field("Marks the lines from this offset in the document's text.", offset),
        to: field("Marks the lines up to this offset.", offset),
        width: field(
          "The width of the image, in pixels.",
          optionalKey(between(PAGE_WIDTH.least, PAGE_WIDTH.most)),
          PAGE_WIDTH.usual
        )
      },
      success: png
    })
  )
  .annotate(HttpApi.QueryParseOptions, { onExcessProperty: "error" })
  .middleware(Access) {}
