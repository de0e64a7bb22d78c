/** `sluice eval figures`: how well figures and tables are found in PDFs. */
import { evaluateFigures, type FigureEvaluation, type FigureMiss } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { jsonFlag } from "../library/Flags.ts"
import { printResult } from "../output/Output.ts"
import { evaluationData, evaluationDataFlag } from "./EvaluationFlags.ts"

const CONTENTS = "figures/gold.json and the PDFs that it names"

const missLine = ({ box, document, found, iou, kind, number, page, what }: FigureMiss): string => {
  const nearest = found === undefined ? "" : `; nearest: ${found.kind} ${found.number ?? "without number"}`
  return `  ${what}: ${document}, page ${page}, ${kind} ${number ?? "without number"} [${box.map(Math.round).join(", ")}], IoU ${iou.toFixed(2)}${nearest}`
}

const render = ({ misses, ...metrics }: FigureEvaluation): string =>
  [
    ...Object.entries(metrics).map(([name, value]) => `${name.padEnd(20)}${value.toFixed(3).padStart(10)}`),
    ...misses.map(missLine)
  ].join("\n")

export const figuresCommand = Command.make(
  "figures",
  { data: evaluationDataFlag(CONTENTS), json: jsonFlag },
  Effect.fnUntraced(function* ({ data, json }) {
    const evaluation = yield* evaluateFigures({ data: yield* evaluationData(data, CONTENTS) })
    yield* printResult(json, evaluation, () => render(evaluation))
  })
).pipe(
  Command.withDescription(
    "Compare the figures and tables found in PDFs with gold.json: precision, recall, numbers, kinds, overlap, captions, " +
      "speed and memory"
  )
)
