/** `sluice eval answers`: how well chat models answer the same questions, what they cost, and how long they take. */
import { isRight } from "@sluice/rag/evaluation"
import { Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { Prices } from "../../billing/Prices.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { SAMPLES } from "../../libraries/Samples.ts"
import { EMBEDDED_READER, LibraryModelsLayer } from "../../providers/LibraryModels.ts"
import { countFlag, examples, jsonFlag, optionalFlag } from "../library/Flags.ts"
import { note, printResult, progressBar } from "../output/Output.ts"
import { signed } from "../report/Report.ts"
import { evaluateError, evaluationData, evaluationDataFlag } from "./EvaluationFlags.ts"
import { writeReport } from "./EvaluationResult.ts"
import { compareModels, type ModelComparison, NAMES } from "./ModelComparison.ts"
import { CONTENTS, QUESTIONS } from "./Qa.ts"

const row = (cells: ReadonlyArray<string>) =>
  `| ${cells.map((cell) => cell.replace(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`

const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
  [row(head), row(head.map(() => "---")), ...rows.map(row)].join("\n")

const number = (value: number | undefined) => value?.toFixed(4).replace(/\.?(?<!0)0+$/, "") ?? "–"

/** Markdown. */
const render = (comparison: ModelComparison): string => {
  const { comparisons, missing, models, questions, ran, spent, stopped, unpriced, verifier } = comparison
  const reasons = [...new Set(models.flatMap(({ notRead }) => Object.keys(notRead)))]
  return [
    "# Answers by model",
    [
      `${ran} of ${questions} questions were asked of each model, for ${spent.toFixed(6)} USD. Verifier: ${verifier}.`,
      ...(stopped ? ["Stopped: the next call might have passed the budget."] : []),
      ...(unpriced.length > 0 ? [`Priced by default: ${unpriced.join(", ")}.`] : []),
      ...missing.map((document) => `${document} is missing: its questions were skipped.`)
    ].join("\n"),
    table(
      ["model", ...NAMES, "all usd"],
      models.map(({ means, model, usd }) => [
        model,
        ...NAMES.map((name) => (name === "usd" ? (means.usd?.toFixed(6) ?? "–") : number(means[name]))),
        usd.toFixed(6)
      ])
    ),
    ...(reasons.length === 0
      ? []
      : [
          "## Not read",
          table(
            ["model", ...reasons],
            models.map(({ model, notRead }) => [
              model,
              ...reasons.map((reason) => String(notRead[reason] ?? 0))
            ])
          )
        ]),
    ...comparisons.flatMap(({ a, b, differences }) => [
      `## ${a} minus ${b}`,
      table(
        ["mean", "questions", "difference", "95 % interval", "p"],
        NAMES.map((name) => {
          const { difference, interval, p, questions } = differences[name]
          return [name, String(questions), signed(difference), interval.map(signed).join(" … "), p.toFixed(4)]
        })
      )
    ])
  ].join("\n\n")
}

/** The answers that are not right. */
const renderWrong = ({ answers }: ModelComparison): string =>
  table(
    ["question", "model", "asked", "answer", "not read"],
    answers
      .filter((answer) => !isRight(answer))
      .map(({ answer, failure, id, model, notRead, question }) => [
        id,
        model,
        question,
        failure ?? answer,
        notRead ?? ""
      ])
  )

export const answersCommand = Command.make(
  "answers",
  {
    models: Flag.String("models").pipe(
      Flag.withDescription(`Chat models, separated by commas; ${EMBEDDED_READER} is the embedded reader`),
      Flag.map((text) => [...new Set(text.split(",").map((name) => name.trim()))]),
      Flag.filter(
        (names) => !names.includes(""),
        () => "--models has an empty name."
      )
    ),
    data: evaluationDataFlag(CONTENTS),
    docs: optionalFlag(
      Flag.Path("docs", { mustExist: true }),
      "Your own documents, in place of the papers. Needs --questions"
    ),
    questions: optionalFlag(
      Flag.File("questions", { mustExist: true }),
      `File of questions, one JSON object per line. Default: ${QUESTIONS}`
    ),
    limit: optionalFlag(countFlag("limit"), "Ask only so many questions, spread over all"),
    concurrency: countFlag("concurrency").pipe(
      Flag.withDescription("Questions at once. Above 1, seconds are longer. Default 1"),
      Flag.withDefault(1)
    ),
    budget: optionalFlag(
      Flag.Finite("budget").pipe(
        Flag.filter(
          (value) => value > 0,
          (value) => `--budget must be above 0, not ${value}.`
        )
      ),
      "USD: stop before the chats cost more, by the configured prices"
    ),
    report: optionalFlag(
      Flag.File("report"),
      "Also write a Markdown file, with each answer that is not right"
    ),
    json: jsonFlag
  },
  ({ budget, concurrency, data, docs, json, limit, models, questions, report }) =>
    Effect.gen(function* () {
      if (Option.isSome(docs) && Option.isNone(questions))
        return yield* evaluateError("Malformed", "--docs needs --questions about these documents.")
      const folders = Option.isSome(docs)
        ? [docs.value]
        : [SAMPLES, join(yield* evaluationData(data, CONTENTS), "figures")]
      if (Option.isSome(report)) yield* writeReport(report.value, "")
      const progress = yield* progressBar("Asking")
      const comparison = yield* compareModels({
        models,
        folders,
        questions: Option.getOrElse(questions, () => QUESTIONS),
        limit: Option.getOrElse(limit, () => Infinity),
        concurrency,
        budget: Option.getOrElse(budget, () => Infinity),
        onQuestion: (done, of) => progress(done, of, "questions")
      })
      for (const model of models) {
        const answer = comparison.answers.find((one) => one.model === model && one.failure !== undefined)
        if (answer !== undefined) yield* note(`sluice: ${model} failed: ${answer.failure}`)
      }
      yield* printResult(json, comparison, () => render(comparison))
      if (Option.isSome(report))
        yield* writeReport(
          report.value,
          `${render(comparison)}\n\n## Not right\n\n${renderWrong(comparison)}\n`
        )
    }).pipe(
      Effect.scoped,
      Effect.provide(Layer.provideMerge(Layer.merge(LibraryModelsLayer, Prices.layer), ServerConfig.layer))
    )
).pipe(
  Command.withDescription(
    "Compare chat models on the same questions: correct and cited answers, support, abstentions, responses that were not " +
      "read, tokens, cost and seconds"
  ),
  examples({
    "sluice eval answers --models gpt-5-mini,embedded --data DIR --budget 0.50":
      "Compare a configured model with the embedded reader",
    "sluice eval answers --models a,b --docs ./docs --questions questions.jsonl --report models.md":
      "Choose a model by your own questions"
  })
)
