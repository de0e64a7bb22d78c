/** The text in a picture, by Tesseract: a classic OCR engine with a small network. It reads; it does not describe. */
import { GatewayError, ServerFailure, TimedOut } from "@sluice/core"
import { Duration, Effect, RcRef, type Scope, Semaphore } from "effect"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Line, Page, Worker } from "tesseract.js"
import { optionalPackage } from "./optionalPackage.ts"
import { mergeLines } from "./mergeLines.ts"
import { preparePicture } from "./Picture.ts"
import type { OcrLine, Seen } from "./Seen.ts"

/** Reads pictures, one after the other. */
export interface Ocr {
  /** PNG, JPEG or WEBP. Fails with `InvalidRequest` for a damaged picture and with `TimedOut` for an endless one. */
  readonly see: (image: Uint8Array) => Effect.Effect<Seen, GatewayError>
}

/** English and simplified Chinese at once. */
const LANGUAGES = ["eng", "chi_sim"] as const

/** Lines of which the engine is less sure are mostly lines of a drawing, not of text. */
const LEAST_CONFIDENCE = 0.4

/** A full page takes about 4 s. */
const PATIENCE: Duration.Input = "60 seconds"

/** The engine holds about 180 MB: nobody keeps it who does not use it. */
const IDLE: Duration.Input = "1 minute"

/**
 * A reader of pictures in a worker thread, started when it is first needed and ended when it has had nothing to do for a
 * minute. It needs the packages sharp, tesseract.js, \@tesseract.js-data/eng and \@tesseract.js-data/chi_sim, and no
 * network.
 */
export const makeOcr: Effect.Effect<Ocr, never, Scope.Scope> = Effect.gen(function* () {
  const engine = yield* RcRef.make({ acquire: startEngine, idleTimeToLive: IDLE })
  const turn = yield* Semaphore.make(1)

  const recognize = (image: Uint8Array, scale: number) =>
    Effect.scoped(
      Effect.flatMap(RcRef.get(engine), (worker) =>
        Effect.tryPromise({
          try: async () => {
            const read = async (layout: string) => linesOf(await reading(worker, layout, image), scale)
            const lines = await read(LAYOUTS.pages)
            return lines.length < CHART_LINES ? mergeLines(lines, await read(LAYOUTS.charts)) : lines
          },
          catch: broken
        })
      )
    ).pipe(
      Effect.timeoutOrElse({
        duration: PATIENCE,
        orElse: () => {
          const after = Duration.fromInputUnsafe(PATIENCE)
          const message = `The picture was not read within ${Duration.format(after)}. Make it smaller, or crop it.`
          return Effect.fail(
            new GatewayError({
              operation: "vision",
              reason: new TimedOut({ message, scope: "call", after })
            })
          )
        }
      }),
      // What it is reading cannot be called back: the next picture gets a new engine.
      Effect.onError(() => RcRef.invalidate(engine)),
      turn.withPermit
    )

  const see: Ocr["see"] = Effect.fn("sluice.see")(function* (image) {
    const { colours, height, readable, scale, width } = yield* preparePicture(image)
    return { width, height, colours, lines: yield* recognize(readable, scale) }
  })

  return { see }
})

/**
 * Page segmentation modes of Tesseract: automatic layout, which finds columns and tables, and one column of lines of any
 * size, which finds the numbers of a chart that automatic layout takes for a drawing.
 */
const LAYOUTS = { pages: "3", charts: "4" } as const

/** What has more lines is a page of text, and a second reading of it would take seconds. */
const CHART_LINES = 15

const reading = async (worker: Worker, layout: string, image: Uint8Array): Promise<Page> => {
  // Its chatter on standard error goes nowhere.
  await worker.setParameters({ tessedit_pageseg_mode: layout, debug_file: "/dev/null" } as object)
  const { data } = await worker.recognize(Buffer.from(image), {}, { text: false, blocks: true })
  return data
}

const linesOf = ({ blocks }: Page, scale: number): ReadonlyArray<OcrLine> =>
  (blocks ?? []).flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) => lines.flatMap((line) => lineOf(line, scale)))
  )

const lineOf = ({ bbox, confidence, text }: Line, scale: number): ReadonlyArray<OcrLine> => {
  const written = joined(text)
  if (written === "" || confidence / 100 < LEAST_CONFIDENCE) return []
  const round = (pixels: number) => Math.round(pixels / scale)
  const box = [round(bbox.x0), round(bbox.y0), round(bbox.x1 - bbox.x0), round(bbox.y1 - bbox.y0)] as const
  return [{ text: written, confidence: confidence / 100, box }]
}

/** The engine puts spaces between Chinese characters. */
const joined = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/(?<=[\p{Script=Han}，。、；：？！（）]) (?=[\p{Script=Han}，。、；：？！（）])/gu, "")

const broken = (cause: unknown) =>
  new GatewayError({
    operation: "vision",
    reason: new ServerFailure({
      message: `The OCR engine failed: ${String(cause)}`,
      status: 500,
      final: true
    })
  })

const loadTesseract = optionalPackage("tesseract.js", () => import("tesseract.js"))

const dataOf = (language: string) =>
  optionalPackage(`@tesseract.js-data/${language}`, async () => {
    const { resolve } = createRequire(import.meta.url)
    const home = dirname(resolve(`@tesseract.js-data/${language}/package.json`))
    return join(home, "4.0.0_best_int", `${language}.traineddata.gz`)
  })

/** The engine looks for the data of all languages in one folder. */
const dataFolder = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-ocr-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  for (const language of LANGUAGES) {
    const data = yield* dataOf(language)
    yield* Effect.promise(() => symlink(data, join(folder, `${language}.traineddata.gz`)))
  }
  return folder
})

const startEngine: Effect.Effect<Worker, GatewayError, Scope.Scope> = Effect.acquireRelease(
  Effect.scoped(
    Effect.gen(function* () {
      const { createWorker, OEM } = yield* loadTesseract
      const langPath = yield* dataFolder
      return yield* Effect.tryPromise({
        try: () =>
          createWorker([...LANGUAGES], OEM.LSTM_ONLY, {
            langPath,
            cacheMethod: "none",
            gzip: true,
            // Without it the engine throws where nobody can catch. The promise is rejected all the same.
            errorHandler: () => {}
          }),
        catch: broken
      })
    })
  ),
  (worker) => Effect.promise(() => worker.terminate())
)
