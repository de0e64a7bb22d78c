/** What is to be seen of a document: its figures, their crops, and its pages as images. */
import { Failure } from "@sluice/core/contract"
import { imageFormatOf, mediaTypeOf } from "@sluice/core/media"
import {
  type Box,
  type DocumentInfo,
  type FigurePassage,
  type Page,
  type Parsed,
  renderPage
} from "@sluice/rag"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { type FigureInfo, MAX_BOXES, PAGE_WIDTH } from "../contract/Figures.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { notThere, ownDocuments } from "./CallerDocuments.ts"
import { drawBoxes, drawImage } from "./PageDrawing.ts"
import { PageImages } from "./PageImages.ts"
import { ragFailure } from "../libraries/RagFailure.ts"
import { Shelves } from "../libraries/UserLibraries.ts"

/** The headers of a picture: nothing in it runs here, and no other origin embeds it. */
const sandboxed = {
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "sandbox; default-src 'none'"
}

/** What is named by its content may be kept; what is named by its place is asked for again. */
const FOREVER = "private, max-age=31536000, immutable"
const AGAIN = "private, no-cache"

const SHA256 = /^[0-9a-f]{64}$/

const wireFigure = (passage: FigurePassage, i: number, collection: string | undefined): FigureInfo => {
  const { box, caption, crop, kind, number, page } = passage.figure
  const named = collection === undefined ? "" : `?collection=${encodeURIComponent(collection)}`
  return {
    n: i + 1,
    kind,
    caption,
    start: passage.start,
    end: passage.end,
    text: passage.text,
    passageId: passage.id,
    ...(number !== undefined && { number }),
    ...(page !== undefined && { page }),
    ...(box !== undefined && { box }),
    ...(crop !== undefined && { crop: `/documents/${passage.document.id}/figures/${crop}/crop${named}` })
  }
}

/** Whether who asks has this one already. */
const hasAlready = (etag: string) =>
  Effect.map(
    HttpServerRequest.HttpServerRequest,
    ({ headers }) => headers["if-none-match"]?.split(/\s*,\s*/).includes(etag) === true
  )

/** What would draw nothing, silently. */
const nonsenseIn = ({
  boxes,
  from,
  to
}: {
  readonly boxes?: string
  readonly from?: number
  readonly to?: number
}) => {
  const refused = (param: string, message: string) =>
    new Failure({ status: 400, message: `\`${param}\` ${message}`, param, retryable: false })
  if (from !== undefined && to !== undefined && from >= to)
    return refused(
      "from",
      `is ${from} and \`to\` is ${to}: no character lies between, \`to\` comes after \`from\``
    )
  const turned = boxes?.split(";").find((box) => {
    const [x0 = 0, y0 = 0, x1 = 0, y1 = 0] = box.split(",").map(Number)
    return x0 > x1 || y0 > y1
  })
  return turned === undefined
    ? undefined
    : refused("boxes", `has ${turned}: a box is its upper left corner, then its lower right one`)
}

const digestOf = (boxes: ReadonlyArray<Box>): string =>
  createHash("sha256").update(JSON.stringify(boxes)).digest("hex").slice(0, 16)

/** What shall be drawn: the boxes given, and those of the lines between two offsets. */
const boxesOf = (
  { lines }: Parsed,
  page: Page,
  { boxes, from, to }: { readonly boxes?: string; readonly from?: number; readonly to?: number }
): ReadonlyArray<Box> => {
  const given = (boxes?.split(";") ?? []).map((box) => box.split(",").map(Number) as unknown as Box)
  if (from === undefined && to === undefined) return given
  const between = lines.filter(
    (line) => line.page === page.number && line.start < (to ?? Infinity) && (from ?? 0) < line.end
  )
  return [...given, ...between.map(({ box }) => box)].slice(0, MAX_BOXES)
}

export const FiguresLayer = HttpApiBuilder.group(
  ServerApi,
  "figures",
  Effect.fn(function* (handlers) {
    const own = ownDocuments(yield* Shelves)
    const images = yield* PageImages

    const figuresOf = (id: string, named: { readonly collection?: string }) =>
      Effect.flatMap(own.library(named), (library) => Effect.mapError(library.figures(id), ragFailure))

    /** Of a page of a document that is there; the whole of it is read only when the picture is not kept. */
    const draw = (
      library: Effect.Success<ReturnType<typeof own.library>>,
      { format, id, path }: DocumentInfo,
      page: Page,
      width: number
    ) =>
      Effect.flatMap(library.file(id), ({ bytes }) =>
        format === "image"
          ? drawImage(path, bytes, width)
          : renderPage(path, bytes, page.number, { dpi: (72 * width) / page.width })
      )

    return handlers.handleAll({
      figures: Effect.fn("figures.list")(function* ({ params, query }) {
        const figures = yield* figuresOf(params.id, query)
        return { figures: figures.map((figure, i) => wireFigure(figure, i, query.collection)) }
      }),
      crop: Effect.fn("figures.crop")(function* ({ params: { figure, id }, query }) {
        const library = yield* own.library(query)
        const byContent = SHA256.test(figure)
        const found = byContent
          ? { crop: figure }
          : (yield* Effect.mapError(library.figures(id), ragFailure))[Number(figure) - 1]?.figure
        if (found?.crop === undefined) {
          const why =
            found === undefined ? `There is no figure ${figure.slice(0, 80)} in it` : "It has no picture"
          return yield* notThere(`${why}: GET /documents/${id}/figures lists what there is`, "figure")
        }
        const bytes = yield* Effect.mapError(library.attachment(id, found.crop), ragFailure)
        const format = imageFormatOf(bytes)
        const headers = {
          ...sandboxed,
          "content-type": format === undefined ? "application/octet-stream" : mediaTypeOf(format),
          "cache-control": byContent ? FOREVER : AGAIN,
          etag: `"${found.crop}"`
        }
        return (yield* hasAlready(headers.etag))
          ? HttpServerResponse.empty({ status: 304, headers })
          : HttpServerResponse.uint8Array(bytes, { headers })
      }),
      pageImage: Effect.fn("figures.pageImage")(function* ({ params, query }) {
        const nonsense = nonsenseIn(query)
        if (nonsense !== undefined) return yield* nonsense
        const { info, page, parsed } = yield* own.page(params.id, params.number, query)
        const library = yield* own.library(query)
        const { width = PAGE_WIDTH.usual } = query
        const of = { sha256: info.sha256, page: page.number, width }
        const boxes = boxesOf(parsed, page, query)
        const etag = `"${[...Object.values(of), digestOf(boxes)].join("-")}"`
        // A path may hold another file tomorrow; whether it does is asked, and what is the same is not sent again.
        const headers = { ...sandboxed, "content-type": "image/png", "cache-control": AGAIN, etag }
        if (yield* hasAlready(etag)) return HttpServerResponse.empty({ status: 304, headers })
        const drawn = Effect.gen(function* () {
          const plain = yield* images.get(of, draw(library, info, page, width))
          return boxes.length === 0 ? plain : yield* drawBoxes(info.path, plain, page, boxes)
        })
        const png = yield* Effect.mapError(drawn, ragFailure)
        return HttpServerResponse.uint8Array(png, { headers })
      })
    })
  })
)
