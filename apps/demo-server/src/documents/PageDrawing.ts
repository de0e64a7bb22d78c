/** Draws image documents as pages, and boxes on pages. sharp does the work, in its own threads. */
import { MAX_IMAGE_PIXELS } from "@sluice/core/media"
import type { Box } from "@sluice/rag"
import { RagError } from "@sluice/rag"
import { Effect } from "effect"
import type sharp from "sharp"

/** Translucent marker yellow with an edge. The cited text stays readable. */
const MARK = 'fill="#ffd84d" fill-opacity="0.4" stroke="#b26a00" stroke-opacity="0.85"'

/** Loaded at the first image, to keep the server's start fast. */
const loadSharp = Effect.cached(Effect.promise(() => import("sharp"))).pipe(Effect.runSync)

const draw = (path: string, make: (library: typeof sharp) => Promise<Uint8Array>) =>
  Effect.flatMap(loadSharp, ({ default: library }) =>
    Effect.tryPromise({
      try: () => make(library),
      catch: (cause) =>
        new RagError({
          stage: "parse",
          reason: "Malformed",
          message: `${path}: this page cannot be drawn. GET …/file returns the original.`,
          document: path,
          cause
        })
    })
  )

/** An image document as PNG, upright, on white, `width` pixels across. */
export const drawImage = (path: string, bytes: Uint8Array, width: number) =>
  draw(path, (library) =>
    library(bytes, { limitInputPixels: MAX_IMAGE_PIXELS })
      .autoOrient()
      .flatten({ background: "white" })
      .resize({ width })
      .png({ compressionLevel: 3 })
      .toBuffer()
  )

/** Draws boxes on the PNG of a page. `page` and `boxes` are in points. */
export const drawBoxes = (
  path: string,
  png: Uint8Array,
  page: { readonly width: number; readonly height: number },
  boxes: ReadonlyArray<Box>
) =>
  draw(path, async (library) => {
    const { height, width } = await library(png).metadata()
    const line = page.width / 800
    const marks = boxes.map(([x0, y0, x1, y1]) => {
      const [left, top] = [Math.max(0, x0 - line), Math.max(0, y0 - line)]
      const [wide, high] = [Math.max(0, x1 + line - left), Math.max(0, y1 + line - top)]
      return `<rect x="${left}" y="${top}" width="${wide}" height="${high}" rx="${line}" stroke-width="${line}" ${MARK}/>`
    })
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${page.width} ${page.height}" preserveAspectRatio="none">${marks.join("")}</svg>`
    return library(png)
      .composite([{ input: Buffer.from(svg) }])
      .png({ compressionLevel: 3 })
      .toBuffer()
  })
