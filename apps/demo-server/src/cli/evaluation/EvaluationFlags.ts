/** Flags of `sluice eval`: the data, the configurations to compare, and the limits. */
import { RagError } from "@sluice/rag"
import { RetrievalStages, retrieveOptionsSchema } from "@sluice/rag/retrieval"
import { type Configuration, METRICS, type RunMetrics } from "@sluice/rag/evaluation"
import { Effect, FileSystem, Option, Record, Schema } from "effect"
import { type Command, Flag } from "effect/cli"
import { optionalFlag } from "../library/Flags.ts"
import { note, setExitCode } from "../output/Output.ts"

/** Where prepared data lies by default: next to the repository. */
const DEFAULT_DATA = "../shared/data"

export const evaluateError = (reason: RagError["reason"], message: string, cause?: unknown) =>
  new RagError({ stage: "evaluate", reason, message, cause })

/** `--data` of an evaluation on prepared data. `contents` says which files the folder must have. */
export const evaluationDataFlag = (contents: string) =>
  optionalFlag(Flag.Directory("data"), `Folder with ${contents}. Default: ${DEFAULT_DATA}`)

/** The folder of `--data` or the default; fails with `NotFound`. */
export const evaluationData = Effect.fn("cli.evaluationData")(function* (
  flag: Option.Option<string>,
  contents: string
) {
  if (Option.isSome(flag)) return flag.value
  const fs = yield* FileSystem.FileSystem
  if (yield* fs.exists(DEFAULT_DATA).pipe(Effect.orElseSucceed(() => false))) return DEFAULT_DATA
  return yield* evaluateError(
    "NotFound",
    `The folder ${DEFAULT_DATA} does not exist. Name a folder with ${contents}: --data DIR`
  )
})

const configurationFlag = (name: string, description: string) =>
  optionalFlag(
    Flag.String(name),
    `${description}: JSON such as {"recall":50} or {"fusion":{"_tag":"Dense"}}, or a JSON file`
  )

export const configurationFlags = {
  a: configurationFlag("a", "A configuration to compare with the default"),
  b: configurationFlag("b", "With --a: a configuration to compare it with, instead of the default")
}

/** Parses `--a` and `--b`. Fails with `Malformed`, also for an unknown field, or with `NotFound`. */
export const parseConfigurations = (flags: Command.Command.Config.Infer<typeof configurationFlags>) =>
  Effect.forEach(Object.entries(Record.getSomes({ a: flags.a, b: flags.b })), ([name, value]) =>
    Effect.map(parseOptions(name, value), (options): Configuration => ({ name, options }))
  )

const parseOptions = Effect.fn("cli.parseOptions")(function* (name: string, value: string) {
  const fs = yield* FileSystem.FileSystem
  const missing = `--${name} ${value} is neither JSON nor a readable file. JSON starts with {.`
  const text = value.trimStart().startsWith("{")
    ? value
    : yield* Effect.mapError(fs.readFileString(value), (cause) => evaluateError("NotFound", missing, cause))
  const options = Schema.fromJsonString(retrieveOptionsSchema(yield* RetrievalStages))
  return yield* Schema.decodeUnknownEffect(options)(text, { onExcessProperty: "error" }).pipe(
    Effect.mapError((cause) =>
      evaluateError("Malformed", `--${name} is not a retrieval configuration: ${cause.message}`, cause)
    )
  )
})

export const failUnderFlag = optionalFlag(
  Flag.KeyValuePair("fail-under"),
  "METRIC=VALUE, such as nDCG@10=.4: exit with code 1 if the default scores lower. Repeatable"
)

interface Limit {
  readonly metric: keyof RunMetrics
  readonly least: number
}

const isMetric = (name: string): name is keyof RunMetrics => METRICS.some((metric) => metric === name)

/** Parses `--fail-under`; fails with `Malformed`. */
export const parseFailUnder = (flag: Option.Option<Readonly<Record<string, string>>>) =>
  Effect.forEach(Object.entries(Option.getOrElse(flag, () => ({}))), ([metric, value]) => {
    const least = Number(value)
    return isMetric(metric) && value.trim() !== "" && Number.isFinite(least)
      ? Effect.succeed<Limit>({ metric, least })
      : Effect.fail(
          evaluateError(
            "Malformed",
            `--fail-under ${metric}=${value} is not valid. Write a metric (${METRICS.join(", ")}), = and a number, such as nDCG@10=.4`
          )
        )
  })

/** Prints each limit that the run does not reach, and then sets exit code 1. */
export const checkLimits = Effect.fn("cli.checkLimits")(function* (
  limits: ReadonlyArray<Limit>,
  name: string,
  metrics: RunMetrics | undefined
) {
  for (const { least, metric } of limits) {
    const value = metrics?.[metric] ?? 0
    if (value >= least) continue
    yield* note(`sluice: ${metric} of ${name} is ${value.toFixed(4)}, below ${least}.`)
    yield* setExitCode
  }
})
