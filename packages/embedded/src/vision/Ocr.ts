/** The text in pictures, by Tesseract. */
import { GatewayError, InvalidRequest, ServerFailure, TimedOut } from "@sluice/core"
import { makeFairQueue, WorkerUser } from "@sluice/core/workers"
import { Config, Duration, Effect, RcRef, type Scope } from "effect"
import { mkdtemp, rm, symlink } from "node:fs/promises"
import { createRequire } from "node:module"
import { availableParallelism, tmpdir } from "node:os"
import { dirname, join } from "node:path"
import type { Line, Page, Worker } from "tesseract.js"
import { optionalPackage } from "../optionalPackage.ts"
import { mergeLines, type OcrLine } from "./OcrLine.ts"
import { preparePicture } from "./Picture.ts"
import type { PictureContent } from "./PictureContent.ts"

/** Recognizes the text of pictures, `SLUICE_OCR_WORKERS` at a time. Users come in turn. */
export interface Ocr {
  /** Takes PNG, JPEG or WEBP. Fails with `InvalidRequest` for a damaged picture, and with `TimedOut` after a minute. */
  readonly recognize: (image: Uint8Array) => Effect.Effect<PictureContent, GatewayError>
}

/** English and simplified Chinese at once. Each further language takes time and memory. */
const DEFAULT_LANGUAGES = "eng,chi_sim"

/** Lines with less confidence are mostly parts of a drawing. */
const MIN_CONFIDENCE = 0.4

/** A full page takes about 4 s. */
const TIMEOUT = Duration.minutes(1)

/** An engine takes about 180 MB, so it ends when idle. */
const IDLE_TIMEOUT: Duration.Input = "1 minute"

/** Engines of `SLUICE_OCR_WORKERS`: by default one for each processor but one, which answers questions, and at most four. */
const readWorkers = Config.Int("SLUICE_OCR_WORKERS").pipe(
  Config.withDefault(Math.min(4, availableParallelism() - 1)),
  Effect.map((count) => Math.max(1, count)),
  Effect.catch(({ message }) =>
    Effect.as(Effect.logWarning(`OCR reads one picture at a time. ${message}`), 1)
  )
)

/**
 * OCR in worker threads, which start on first use and end after an idle minute. It needs the packages sharp,
 * tesseract.js and one of \@tesseract.js-data for each language of `SLUICE_OCR_LANGUAGES` (`eng,chi_sim`), and no network.
 */
export const makeOcr: Effect.Effect<Ocr, never, Scope.Scope> = Effect.gen(function* () {
  const workers = yield* readWorkers
  const makeEngine = RcRef.make({ acquire: startEngine, idleTimeToLive: IDLE_TIMEOUT })
  const free = yield* Effect.all(Array.from({ length: workers }, () => makeEngine))
  // As many pictures as there are engines have their turn. One picture after the other takes the same engine.
  const inTurn = makeFairQueue(workers, workers)
  const withEngine = <A, E>(use: (engine: (typeof free)[number]) => Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => free.pop()!),
      use,
      (engine) => Effect.sync(() => free.push(engine))
    )

  const linesIn = (image: Buffer, scale: number) => (engine: (typeof free)[number]) =>
    Effect.scoped(
      Effect.flatMap(RcRef.get(engine), (worker) =>
        Effect.tryPromise({
          try: async () => {
            const pass = async (layout: string) => linesOf(await runTesseract(worker, layout, image), scale)
            const lines = await pass(LAYOUTS.pages)
            return lines.length < CHART_LINES ? mergeLines(lines, await pass(LAYOUTS.charts)) : lines
          },
          catch: engineFailure
        })
      )
    ).pipe(
      Effect.timeoutOrElse({
        duration: TIMEOUT,
        orElse: () => {
          const message = `The text was not recognized within ${Duration.format(TIMEOUT)}. Make the picture smaller, or crop it.`
          const reason = new TimedOut({ message, scope: "call", after: TIMEOUT })
          return Effect.fail(new GatewayError({ operation: "vision", reason }))
        }
      }),
      // A running recognition cannot be cancelled: the next picture gets a new engine.
      Effect.onError(() => RcRef.invalidate(engine))
    )

  const recognize: Ocr["recognize"] = Effect.fn("sluice.ocr")(function* (image) {
    const { colours, grey, height, scale, width } = yield* preparePicture(image)
    const lines = yield* inTurn(yield* WorkerUser, withEngine(linesIn(grey, scale)))
    return { width, height, colours, lines }
  })

  return { recognize }
})

/**
 * Page segmentation modes of Tesseract: automatic layout, which finds columns and tables, and one column of lines, which
 * finds the numbers of a chart that automatic layout takes for a drawing.
 */
const LAYOUTS = { pages: "3", charts: "4" } as const

/** From this many lines on the picture is a page of text, and a second pass would take seconds. */
const CHART_LINES = 15

const runTesseract = async (worker: Worker, layout: string, image: Buffer): Promise<Page> => {
  // Tesseract writes messages to standard error otherwise.
  await worker.setParameters({ tessedit_pageseg_mode: layout, debug_file: "/dev/null" } as object)
  const { data } = await worker.recognize(image, {}, { text: false, blocks: true })
  return data
}

const linesOf = ({ blocks }: Page, scale: number): ReadonlyArray<OcrLine> =>
  (blocks ?? []).flatMap(({ paragraphs }) =>
    paragraphs.flatMap(({ lines }) => lines.flatMap((line) => lineOf(line, scale)))
  )

const lineOf = ({ bbox, confidence, text }: Line, scale: number): ReadonlyArray<OcrLine> => {
  const joinedText = joinChinese(text)
  if (joinedText === "" || confidence / 100 < MIN_CONFIDENCE) return []
  const round = (pixels: number) => Math.round(pixels / scale)
  const box = [round(bbox.x0), round(bbox.y0), round(bbox.x1 - bbox.x0), round(bbox.y1 - bbox.y0)] as const
  return [{ text: joinedText, confidence: confidence / 100, box }]
}

/** Removes the spaces that the engine puts between Chinese and Japanese characters. */
const joinChinese = (text: string): string =>
  text
    .trim()
    .replaceAll(/\s+/g, " ")
    .replaceAll(
      /(?<=[\p{scx=Han}\p{scx=Kana}，。、；：？！（）]) (?=[\p{scx=Han}\p{scx=Kana}，。、；：？！（）])/gu,
      ""
    )

const engineFailure = (cause: unknown) => {
  const message = `The OCR engine failed: ${String(cause)}`
  return new GatewayError({
    operation: "vision",
    reason: new ServerFailure({ message, status: 500, final: true })
  })
}

const loadTesseract = optionalPackage("vision")("tesseract.js", () => import("tesseract.js"))

const dataPackage = (language: string): string => `@tesseract.js-data/${language}`

const dataOf = (language: string, packages: ReadonlyArray<string>) =>
  optionalPackage("vision", packages)(dataPackage(language), async () => {
    const { resolve } = createRequire(import.meta.url)
    const home = dirname(resolve(`${dataPackage(language)}/package.json`))
    return join(home, "4.0.0_best_int", `${language}.traineddata.gz`)
  })

/** The languages of `SLUICE_OCR_LANGUAGES`, by Tesseract's names such as `deu` and `chi_sim`. */
export const readLanguages = Config.withDefault(
  Config.String("SLUICE_OCR_LANGUAGES"),
  DEFAULT_LANGUAGES
).pipe(
  Effect.map((value) => [...new Set(value.split(/[\s,+]+/).filter((name) => name !== ""))]),
  Effect.filterOrFail(
    (names) => names.length > 0 && names.every((name) => /^[a-z]{3}(?:_[a-z]+)*$/.test(name)),
    () => undefined
  ),
  Effect.mapError(() => {
    const message = "SLUICE_OCR_LANGUAGES must be names of Tesseract's languages, such as eng,deu,fra"
    return new GatewayError({ operation: "vision", reason: new InvalidRequest({ message }) })
  })
)

/** The engine looks for the data of all languages in one folder. */
const dataFolder = Effect.fnUntraced(function* (languages: ReadonlyArray<string>) {
  const packages = ["sharp", "tesseract.js", ...languages.map(dataPackage)]
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-ocr-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true }))
  )
  for (const language of languages) {
    const data = yield* dataOf(language, packages)
    yield* Effect.promise(() => symlink(data, join(folder, `${language}.traineddata.gz`)))
  }
  return folder
})

const startEngine: Effect.Effect<Worker, GatewayError, Scope.Scope> = Effect.acquireRelease(
  Effect.scoped(
    Effect.gen(function* () {
      const { createWorker, OEM } = yield* loadTesseract
      const languages = yield* readLanguages
      const langPath = yield* dataFolder(languages)
      return yield* Effect.tryPromise({
        try: () =>
          createWorker(languages, OEM.LSTM_ONLY, {
            langPath,
            cacheMethod: "none",
            gzip: true,
            // Without a handler the engine also throws an uncaught error besides rejecting.
            errorHandler: () => {}
          }),
        catch: engineFailure
      })
    })
  ),
  (worker) => Effect.promise(() => worker.terminate())
)
