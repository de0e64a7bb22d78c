/** `sluice eval figures`: how well figures and tables are found in PDFs. */
import { evaluateFigures, type FigureEvaluation, type FigureMiss } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { dataFlag, dataFolder } from "./DataFolder.ts"
import { json, print } from "../output/Output.ts"

const HOLDS = "figures/gold.json and the PDFs that it names"

const line = ({ box, document, found, iou, kind, number, page, what }: FigureMiss): string => {
  const as = found === undefined ? "" : `; nearest: ${found.kind} ${found.number ?? "without number"}`
  return `  ${what}: ${document}, page ${page}, ${kind} ${number ?? "without number"} [${box.map(Math.round).join(", ")}], IoU ${iou.toFixed(2)}${as}`
}

const render = ({ misses, ...figures }: FigureEvaluation): string =>
  [
    ...Object.entries(figures).map(([name, value]) => `${name.padEnd(20)}${value.toFixed(3).padStart(10)}`),
    ...misses.map(line)
  ].join("\n")

export const figures = Command.make("figures", { data: dataFlag(HOLDS), json }, ({ data, json }) =>
  Effect.gen(function* () {
    const evaluation = yield* evaluateFigures({ data: yield* dataFolder(data, HOLDS) })
    yield* print(json, evaluation, () => render(evaluation))
  })
).pipe(
  Command.withDescription(
    "Figures and tables of PDFs against gold.json: precision, recall, number and kind, overlap, captions, speed, memory"
  )
)
