/** `sluice figures FILE`: lists the figures found in a PDF, and draws the finder's view of each page. */
import { basename } from "node:path"
import { drawFigureTraces, TRACE_COLOURS } from "@sluice/rag/formats"
import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { jsonFlag, optionalFlag } from "../library/Flags.ts"
import { note, printResult } from "../output/Output.ts"

/** Two pixels a point: small print stays readable. */
const DEBUG_DPI = 144

const LAYERS = {
  textLines: "text lines",
  graphics: "graphics",
  regions: "candidate regions",
  captions: "captions",
  figures: "chosen figures"
} as const

type Trace = Effect.Success<ReturnType<typeof drawFigureTraces>>[number]

const colour = (layer: keyof typeof LAYERS): string => `rgb(${TRACE_COLOURS[layer].join(",")})`

/** Adds a legend below a drawn page, and the kind and number of each figure. */
const withLabels = ({ png, trace }: Trace) =>
  Effect.promise(async () => {
    const { default: sharp } = await import("sharp")
    const { height, width } = await sharp(png).metadata()
    const scale = width / trace.pageWidth
    const label = (text: string, x: number, y: number, fill: string) =>
      `<rect x="${x}" y="${y}" width="${text.length * 10 + 8}" height="22" fill="${fill}"/>` +
      `<text x="${x + 4}" y="${y + 16}" font-family="monospace" font-size="16" fill="white">${text}</text>`
    const legend = Object.entries(LAYERS).map(([layer, name], index) =>
      label(name, 4, height + 4 + index * 24, colour(layer as keyof typeof LAYERS))
    )
    const figures = trace.figures.map(({ box, kind, number }) => {
      // A number is a caption's text; markup in it would break the drawing.
      const text = `${kind} ${number?.replace(/[^\p{L}\p{N}.-]/gu, "") ?? ""}`.trim()
      return label(text, box[0] * scale, box[1] * scale, colour("figures"))
    })
    const bottom = legend.length * 24 + 8
    const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + bottom}">${legend.join("")}${figures.join("")}</svg>`
    const extended = await sharp(png).extend({ bottom, background: "white" }).png().toBuffer()
    return sharp(extended)
      .composite([{ input: Buffer.from(svg) }])
      .png()
      .toBuffer()
  })

export const findFiguresCommand = Command.make(
  "figures",
  {
    file: Argument.Path("file", { mustExist: true }).pipe(Argument.withDescription("A PDF")),
    debug: optionalFlag(
      Flag.String("debug"),
      "Draw what the figure finder saw: one PNG per page in this folder"
    ),
    json: jsonFlag
  },
  Effect.fn("cli.figures")(function* ({ debug, file, json }) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const traces = yield* drawFigureTraces(basename(file), yield* files.readFile(file), { dpi: DEBUG_DPI })
    if (Option.isSome(debug)) {
      yield* files.makeDirectory(debug.value, { recursive: true })
      for (const one of traces) {
        const name = `page-${one.trace.page}.png`
        yield* files.writeFile(path.join(debug.value, name), yield* withLabels(one))
      }
      yield* note(`Drew ${traces.length} pages in ${debug.value}.`)
    }
    const figures = traces.flatMap(({ trace }) => trace.figures.map((one) => ({ page: trace.page, ...one })))
    yield* printResult(json, figures, () =>
      figures.length === 0
        ? "No figures or tables found"
        : figures
            .map(
              ({ box, kind, number, page }) =>
                `page ${page}: ${kind} ${number ?? "without a number"} at ${box.map((value) => Math.round(value)).join(", ")}`
            )
            .join("\n")
    )
  })
).pipe(Command.withDescription("List the figures and tables found in a PDF"))
