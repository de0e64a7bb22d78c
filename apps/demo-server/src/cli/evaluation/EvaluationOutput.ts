/** What every evaluation of retrieval prints: a table, JSON, and a report where one is asked for. */
import { RagError } from "@sluice/rag"
import { type Comparison, type EvaluatedRun, METRICS } from "@sluice/rag/evaluation"
import { Effect, FileSystem, Option } from "effect"
import { Flag } from "effect/cli"
import { failed, note, print } from "../output/Output.ts"
import { type Reported, reportOf } from "../report/Report.ts"

export const reportFlag = Flag.File("report").pipe(
  Flag.withDescription("Also write a report with plots: one HTML file that opens offline"),
  Flag.optional
)

/** A row a run, a column a metric; then the comparisons. */
const render = ({ collection, comparisons, configurations = [], note, runs }: Reported): string => {
  const width = Math.max(collection.length, ...runs.map(({ name }) => name.length))
  const head = [...METRICS, "p50 ms", "p95 ms"]
  const row = ({ latency, metrics, name }: EvaluatedRun) => {
    const cells = [
      ...METRICS.map((metric) => metrics[metric].toFixed(4)),
      latency.p50.toFixed(2),
      latency.p95.toFixed(2)
    ]
    return `${name.padEnd(width)}${cells.map((cell) => cell.padStart(11)).join("")}`
  }
  const lines = [
    collection.padEnd(width) + head.map((name) => name.padStart(11)).join(""),
    ...runs.map(row),
    ...configurations.map(({ name, options }) => `${name}: ${JSON.stringify(options)}`),
    ...comparisons.map(sentence),
    ...(note === undefined ? [] : [note])
  ]
  return lines.join("\n")
}

const signed = (value: number): string => `${value < 0 ? "" : "+"}${value.toFixed(4)}`

const sentence = ({ a, b, metrics }: Comparison): string => {
  const {
    difference,
    interval: [low, high],
    p
  } = metrics["nDCG@10"]
  return `${a} against ${b}: nDCG@10 ${signed(difference)} (95 % ${signed(low)} … ${signed(high)}, p = ${p.toFixed(4)})`
}

const write = Effect.fnUntraced(function* (path: string, content: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs.writeFileString(path, content).pipe(
    Effect.mapError(
      (cause) =>
        new RagError({
          stage: "evaluate",
          reason: "Store",
          message: `The report ${path} cannot be written: ${cause.message}`,
          cause
        })
    )
  )
})

/** An empty report, before anything is measured: where none can be written, hours are not lost. */
export const beginReport = (report: Option.Option<string>) =>
  Option.isSome(report) ? write(report.value, "") : Effect.void

/** Prints, then writes the report: what was measured is not lost with it. What each question came to is for it alone. */
export const present = Effect.fn("cli.presentEvaluation")(function* (
  asJson: boolean,
  report: Option.Option<string>,
  reported: Reported
) {
  const { each: _, ...result } = reported
  yield* print(asJson, result, () => render(reported))
  if (Option.isSome(report)) {
    yield* write(report.value, reportOf(reported)).pipe(
      Effect.matchEffect({
        onSuccess: () => note(`The report is in ${report.value}`),
        onFailure: ({ message }) => Effect.andThen(note(`sluice: ${message}`), failed)
      })
    )
  }
})
