/** Parses an image: a document of one page and one figure. */
import { Effect } from "effect"
import type { Box, Line, Parsed, ReadFault } from "../../document/Document.ts"
import { type DocumentFormat, hasSignature, parseError } from "../parsing/DocumentFormat.ts"
import { titleFromPath } from "../parsing/FileName.ts"
import { imageHeaderOf } from "../parsing/ImageHeader.ts"
import { textRecognizer } from "../parsing/TextRecognizer.ts"

const POINTS_PER_INCH = 72

const NOT_READ: ReadFault = {
  page: 1,
  message:
    "The image was not read, because no `Vision` that reads images is provided: it is found only by its name. Provide one and rebuild the library."
}

/**
 * The text in an image by lines, if `Vision` has `read`; otherwise, or without text, the file name.
 *
 * **Details.** The page has the image's size in points, by the resolution in the file or 96 dpi. The figure's crop is the file.
 * A missing or failed model is a fault. Fails with `Malformed` or `TooLarge`.
 */
const parseImage = Effect.fn("parseImage")(function* (path: string, bytes: Uint8Array) {
  const header = imageHeaderOf(bytes, "this image")
  if ("reason" in header) {
    return yield* parseError(path, header.reason, `${header.message}. Export it again, or make it smaller.`)
  }
  const scale = POINTS_PER_INCH / header.dpi
  const [width, height] = [header.width * scale, header.height * scale]
  const recognizer = yield* textRecognizer
  const faults: Array<ReadFault> = recognizer === undefined ? [NOT_READ] : []
  const recognized =
    recognizer === undefined
      ? []
      : yield* recognizer.recognize(Effect.succeed(bytes)).pipe(
          Effect.catch((error) => {
            faults.push({ page: 1, message: `The image was not read: ${error.message}` })
            return Effect.succeed([])
          })
        )

  const title = titleFromPath(path).toWellFormed()
  const lines: Array<Line> = []
  let text = ""
  for (const line of recognized) {
    const words = line.text.replace(/\s+/g, " ").trim().toWellFormed()
    const start = text === "" ? 0 : text.length + 1
    text += (text === "" ? "" : "\n") + words
    const [x0, y0, x1, y1] = line.box
    const box: Box = [x0 * scale, y0 * scale, x1 * scale, y1 * scale]
    lines.push({ start, end: text.length, page: 1, box })
  }
  const page: Box = [0, 0, width, height]
  if (text === "") {
    text = title
    lines.push({ start: 0, end: text.length, page: 1, box: page })
  }
  const span = { start: 0, end: text.length }
  const parsed: Parsed = {
    format: "image",
    title,
    text,
    blocks: [{ kind: "figure", ...span }],
    pages: [{ number: 1, width, height, ...span }],
    lines,
    figures: [{ kind: "figure", ...span, page: 1, box: page, mentions: [], crop: bytes }],
    faults
  }
  return parsed
})

export const imageFormat: DocumentFormat = {
  id: "image",
  label: "Image",
  extensions: ["png", "jpg", "jpeg", "webp"],
  // Browsers recognize the kind of image by its bytes
  mediaTypes: ["application/octet-stream"],
  sniff: (bytes) =>
    hasSignature(bytes, "\x89PNG")
      ? "a PNG image"
      : hasSignature(bytes, "\xFF\xD8\xFF")
        ? "a JPEG image"
        : hasSignature(bytes, "RIFF") && hasSignature(bytes, "WEBP", 8)
          ? "a WebP image"
          : undefined,
  parse: ({ bytes, path }) => parseImage(path, bytes),
  storesParsed: true
}
