/** `sluice eval qa`: how well questions are answered, cited, or left unanswered. */
import { type AnswerEvaluation, type AnswerScores, evaluateAnswers } from "@sluice/rag/evaluation"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { SAMPLES } from "../../libraries/Samples.ts"
import { LibraryModelsLayer } from "../../providers/LibraryModels.ts"
import { jsonFlag } from "../library/Flags.ts"
import { note, printResult } from "../output/Output.ts"
import { evaluationData, evaluationDataFlag } from "./EvaluationFlags.ts"

export const CONTENTS = "the papers that the questions are about, in figures/"

/** The questions of this project. */
export const QUESTIONS = "test/qa/questions.jsonl"

const PROGRESS_EVERY = 25

const row = (name: string, { questions, ...scores }: AnswerScores): string =>
  [
    `${name} (${questions})`.padEnd(18),
    ...Object.values(scores).map((value: number | undefined) => (value?.toFixed(3) ?? "–").padStart(10))
  ].join("")

const render = ({ all, byKind, failures, heldOut, missing, questions, ran, worked }: AnswerEvaluation) =>
  [
    `${ran} of ${questions} questions were asked.`,
    ...missing.map((document) => `  ${document} is missing: its questions were skipped.`),
    " ".repeat(18) +
      ["contains", "cited", "answers", "figures", "abstains"].map((name) => name.padStart(10)).join(""),
    row("all", all),
    row("worked on", worked),
    row("held out", heldOut),
    ...Object.entries(byKind).map(([kind, scores]) => row(kind, scores)),
    ...failures.map(
      ({ answer, citations, id, question, retrieved }) =>
        `  ${id} ${question}\n      ${retrieved ? "" : "not retrieved; "}${answer.replace(/\s+/g, " ").slice(0, 160)} [${citations.join("; ")}]`
    )
  ].join("\n")

export const qaCommand = Command.make(
  "qa",
  {
    data: evaluationDataFlag(CONTENTS),
    questions: Flag.File("questions").pipe(
      Flag.withDescription(`File of questions, one JSON object per line. Default: ${QUESTIONS}`),
      Flag.withDefault(QUESTIONS)
    ),
    json: jsonFlag
  },
  ({ data, json, questions }) =>
    Effect.gen(function* () {
      const folder = yield* evaluationData(data, CONTENTS)
      const evaluation = yield* evaluateAnswers({
        questions,
        folders: [SAMPLES, join(folder, "figures")],
        onQuestion: (done, total) =>
          done % PROGRESS_EVERY === 0 ? note(`${done} of ${total} questions`) : Effect.void
      })
      yield* printResult(json, evaluation, () => render(evaluation))
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(LibraryModelsLayer, ServerConfig.layer)))
).pipe(
  Command.withDescription(
    "Ask questions with an expected page, figure or text, and questions without an answer: score answers, citations " +
      "and abstentions"
  )
)
