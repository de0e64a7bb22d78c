/** Figures of a document, their images, and pages as images. */
import { Failure } from "@sluice/core/contract"
import { imageFormatOf, mediaTypeOf } from "@sluice/core/media"
import type { Box, DocumentInfo, FigurePassage, LibraryService } from "@sluice/rag"
import { type Page, type Parsed, renderPage } from "@sluice/rag/formats"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { type FigureInfo, MAX_BOXES, PAGE_WIDTH } from "../contract/Figures.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { makeCallerDocuments, notFound } from "./CallerDocuments.ts"
import { OWN_ORIGIN } from "./FileHeaders.ts"
import { drawBoxes, drawImage } from "./PageDrawing.ts"
import { PageImages } from "./PageImages.ts"
import { jsonInPortions } from "../wire/JsonPortions.ts"
import { withRagFailures } from "../libraries/RagFailure.ts"

/** Headers of an image: no script in it runs here, and no other origin can embed it. */
const SANDBOX_HEADERS = { ...OWN_ORIGIN, "content-security-policy": "sandbox; default-src 'none'" }

/** Images named by their hash never change; images named by their position are revalidated. */
const IMMUTABLE = "private, max-age=31536000, immutable"
const REVALIDATE = "private, no-cache"

const SHA256 = /^[0-9a-f]{64}$/

const wireFigure = (passage: FigurePassage, i: number, collection: string | undefined): FigureInfo => {
  const { crop, ...figure } = passage.figure
  const named = collection === undefined ? "" : `?collection=${encodeURIComponent(collection)}`
  return {
    ...figure,
    n: i + 1,
    start: passage.start,
    end: passage.end,
    text: passage.text,
    passageId: passage.id,
    ...(crop !== undefined && { crop: `/documents/${passage.document.id}/figures/${crop}/crop${named}` })
  }
}

/** Whether the caller has cached this version. */
const isCached = (etag: string) =>
  Effect.map(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) => headers["if-none-match"]?.split(",").some((tag) => tag.trim() === etag) === true
  )

/** What to mark on a page: boxes, and the lines between two text offsets. */
interface Marks {
  readonly boxes?: string
  readonly from?: number
  readonly to?: number
}

/** Rejects a range or box that would draw nothing. */
const invalidMarks = ({ boxes, from, to }: Marks) => {
  const reject = (param: string, message: string) =>
    new Failure({ status: 400, message: `\`${param}\` ${message}`, param })
  if (from !== undefined && to !== undefined && from >= to)
    return reject("from", `is ${from}, which is not less than \`to\` (${to})`)
  const inverted = boxes?.split(";").find((box) => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = box.split(",").map(Number)
    return x0 > x1 || y0 > y1
  })
  return inverted === undefined
    ? undefined
    : reject("boxes", `has ${inverted}. A box is its upper left corner, then its lower right corner`)
}

const digestOf = (boxes: ReadonlyArray<Box>): string =>
  createHash("sha256").update(JSON.stringify(boxes)).digest("hex").slice(0, 16)

/** The boxes to draw: the given ones, and those of the lines between two offsets. */
const boxesOf = ({ lines }: Parsed, page: Page, { boxes, from, to }: Marks): ReadonlyArray<Box> => {
  const given = (boxes?.split(";") ?? []).map((box) => box.split(",").map(Number) as unknown as Box)
  if (from === undefined && to === undefined) return given
  const between = lines.filter(
    (line) => line.page === page.number && line.start < (to ?? Infinity) && (from ?? 0) < line.end
  )
  return [...given, ...between.map(({ box }) => box)].slice(0, MAX_BOXES)
}

export const FiguresLayer = HttpApiBuilder.group(
  ServedApi,
  "figures",
  Effect.fn(function* (handlers) {
    const callerDocuments = yield* makeCallerDocuments
    const images = yield* PageImages

    /** Draws a page that is not in the image cache. */
    const draw = (library: LibraryService, { format, id, path }: DocumentInfo, page: Page, width: number) =>
      Effect.flatMap(library.file(id), ({ bytes }) =>
        format === "image"
          ? drawImage(path, bytes, width)
          : renderPage(path, bytes, page.number, { dpi: (72 * width) / page.width })
      )

    return handlers.handleAll({
      figures: Effect.fn("figures.list")(function* ({ params, query }) {
        const library = yield* callerDocuments.library(query)
        const figures = yield* library.figures(params.id)
        return yield* jsonInPortions({
          figures: figures.map((figure, i) => wireFigure(figure, i, query.collection))
        })
      }, withRagFailures),
      crop: Effect.fn("figures.crop")(function* ({ params: { figure, id }, query }) {
        const library = yield* callerDocuments.library(query)
        const byContent = SHA256.test(figure)
        const found = byContent ? { crop: figure } : (yield* library.figures(id))[Number(figure) - 1]?.figure
        if (found?.crop === undefined) {
          const why = found ? "The figure has no image" : `The document has no figure ${figure.slice(0, 80)}`
          return yield* notFound(`${why}. GET /documents/${id}/figures lists its figures`, "figure")
        }
        const bytes = yield* library.attachment(id, found.crop)
        const format = imageFormatOf(bytes)
        const headers = {
          ...SANDBOX_HEADERS,
          "content-type": format === undefined ? "application/octet-stream" : mediaTypeOf(format),
          "cache-control": byContent ? IMMUTABLE : REVALIDATE,
          etag: `"${found.crop}"`
        }
        return (yield* isCached(headers.etag))
          ? HttpServerResponse.empty({ status: 304, headers })
          : HttpServerResponse.uint8Array(bytes, { headers })
      }, withRagFailures),
      pageImage: Effect.fn("figures.pageImage")(function* ({ params, query }) {
        const invalid = invalidMarks(query)
        if (invalid !== undefined) return yield* invalid
        const { info, page, parsed } = yield* callerDocuments.page(params.id, params.number, query)
        const library = yield* callerDocuments.library(query)
        const { width = PAGE_WIDTH.usual } = query
        const of = { sha256: info.sha256, page: page.number, width }
        const boxes = boxesOf(parsed, page, query)
        const etag = `"${[...Object.values(of), digestOf(boxes)].join("-")}"`
        // The file at a path may change, so browsers revalidate.
        const headers = { ...SANDBOX_HEADERS, "content-type": "image/png", "cache-control": REVALIDATE, etag }
        if (yield* isCached(etag)) return HttpServerResponse.empty({ status: 304, headers })
        const plain = yield* images.get(of, draw(library, info, page, width))
        const png = boxes.length === 0 ? plain : yield* drawBoxes(info.path, plain, page, boxes)
        return HttpServerResponse.uint8Array(png, { headers })
      }, withRagFailures)
    })
  })
)
