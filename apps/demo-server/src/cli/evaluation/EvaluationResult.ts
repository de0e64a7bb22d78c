/** Prints a retrieval evaluation as a table or JSON, and writes its HTML report. */
import { type Comparison, type EvaluatedRun, METRICS } from "@sluice/rag/evaluation"
import { Effect, FileSystem, Option } from "effect"
import { type Command, Flag } from "effect/cli"
import { jsonFlag, optionalFlag } from "../library/Flags.ts"
import { note, printResult, progressBar, setExitCode } from "../output/Output.ts"
import { type ReportInput, reportHtml, signed } from "../report/Report.ts"
import {
  checkLimits,
  configurationFlags,
  evaluateError,
  failUnderFlag,
  parseConfigurations,
  parseFailUnder
} from "./EvaluationFlags.ts"

/** Flags of every retrieval evaluation. */
export const resultFlags = {
  ...configurationFlags,
  failUnder: failUnderFlag,
  report: optionalFlag(Flag.File("report"), "Also write an HTML report with plots. It opens offline"),
  json: jsonFlag
}

/** A row for each run, a column for each metric, then the comparisons. */
const render = ({ collection, comparisons, configurations = [], note, runs }: ReportInput): string => {
  const width = Math.max(collection.length, ...runs.map(({ name }) => name.length))
  const row = (name: string, cells: ReadonlyArray<string>) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(11)).join("")}`
  const runRow = ({ latency, metrics, name }: EvaluatedRun) =>
    row(name, [
      ...METRICS.map((metric) => metrics[metric].toFixed(4)),
      latency.p50.toFixed(2),
      latency.p95.toFixed(2)
    ])
  return [
    row(collection, [...METRICS, "p50 ms", "p95 ms"]),
    ...runs.map(runRow),
    ...configurations.map(({ name, options }) => `${name}: ${JSON.stringify(options)}`),
    ...comparisons.map(comparisonLine),
    ...(note === undefined ? [] : [note])
  ].join("\n")
}

const comparisonLine = ({ a, b, metrics }: Comparison): string => {
  const { difference, interval, p } = metrics["nDCG@10"]
  return `${a} vs ${b}: nDCG@10 ${signed(difference)} (95 % ${interval.map(signed).join(" … ")}, p = ${p.toFixed(4)})`
}

export const writeReport = Effect.fnUntraced(function* (path: string, html: string) {
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .writeFileString(path, html)
    .pipe(
      Effect.mapError((cause) =>
        evaluateError("Store", `The report ${path} cannot be written: ${cause.message}`, cause)
      )
    )
})

/**
 * Parses the flags, runs the evaluation, prints it, writes the report and checks the limits. An empty report is written
 * first, so that an unwritable path fails before the evaluation, not after hours of it.
 */
export const evaluateWith = Effect.fn("cli.evaluate")(function* <E, R>(
  flags: Command.Command.Config.Infer<typeof resultFlags>,
  evaluate: (options: {
    readonly configurations: Effect.Success<ReturnType<typeof parseConfigurations>>
    readonly onQuestion: (done: number) => Effect.Effect<void>
  }) => Effect.Effect<ReportInput, E, R>
) {
  const limits = yield* parseFailUnder(flags.failUnder)
  const configurations = yield* parseConfigurations(flags)
  const report = Option.getOrUndefined(flags.report)
  if (report !== undefined) yield* writeReport(report, "")
  const progress = yield* progressBar("Evaluating")
  const evaluation = yield* evaluate({
    configurations,
    onQuestion: (done) => progress(done, undefined, "questions")
  })
  const result = { ...evaluation, configurations }
  // The metrics of each question are only in the report.
  const { each: _, ...summary } = result
  yield* printResult(flags.json, summary, () => render(result))
  if (report !== undefined) {
    yield* writeReport(report, reportHtml(result)).pipe(
      Effect.matchEffect({
        onSuccess: () => note(`The report is in ${report}`),
        onFailure: ({ message }) => Effect.andThen(note(`sluice: ${message}`), setExitCode)
      })
    )
  }
  const metrics = evaluation.runs.find(({ name }) => name === "default")?.metrics
  yield* checkLimits(limits, "default", metrics)
})
