/** `sluice figures FILE`: lists the figures found in a PDF, and draws what the figure finder saw. */
import { basename } from "node:path"
import { drawFigureTraces, TRACE_COLOURS } from "@sluice/rag"
import { Effect, FileSystem, Option, Path } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { jsonFlag } from "../library/Flags.ts"
import { note, printResult } from "../output/Output.ts"

/** Two pixels a point: small print stays readable. */
const DEBUG_DPI = 144

const LEGEND = Object.entries({
  textLines: "text lines",
  graphics: "graphics",
  regions: "candidate regions",
  captions: "captions",
  figures: "chosen figures"
} as const)
  .map(([layer, name]) => `${TRACE_COLOURS[layer as keyof typeof TRACE_COLOURS].name}: ${name}`)
  .join(", ")

export const findFiguresCommand = Command.make(
  "figures",
  {
    file: Argument.Path("file", { mustExist: true }).pipe(Argument.withDescription("A PDF")),
    debug: Flag.String("debug").pipe(
      Flag.withDescription("Draw what the figure finder saw: one PNG per page in this folder"),
      Flag.optional
    ),
    json: jsonFlag
  },
  Effect.fn("cli.figures")(function* ({ debug, file, json }) {
    const files = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const traces = yield* drawFigureTraces(basename(file), yield* files.readFile(file), { dpi: DEBUG_DPI })
    if (Option.isSome(debug)) {
      yield* files.makeDirectory(debug.value, { recursive: true })
      for (const { png, trace } of traces)
        yield* files.writeFile(path.join(debug.value, `page-${trace.page}.png`), png)
      yield* note(`Drew ${traces.length} pages in ${debug.value}. ${LEGEND}.`)
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
