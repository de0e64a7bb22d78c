/** `sluice eval qa`: how well questions about documents are answered, cited, or left unanswered. */
import { type AnswerEvaluation, type AnswerScores, evaluateAnswers } from "@sluice/rag/evaluation"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { join } from "node:path"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { SAMPLES } from "../../libraries/Samples.ts"
import { NarrowLayer } from "../../providers/Models.ts"
import { dataFlag, dataFolder } from "./DataFolder.ts"
import { json, note, print } from "../output/Output.ts"

const HOLDS = "the papers that the questions are about, in figures/"

/** The questions of this project, from its root. */
const QUESTIONS = "test/qa/questions.jsonl"

const shares = (name: string, { questions, ...scores }: AnswerScores): string =>
  [
    `${name} (${questions})`.padEnd(18),
    ...Object.values(scores).map((value: number | undefined) => (value?.toFixed(3) ?? "–").padStart(10))
  ].join("")

const render = ({ all, byKind, failures, heldOut, missing, questions, ran, worked }: AnswerEvaluation) =>
  [
    `${ran} of ${questions} questions were asked.`,
    ...missing.map((document) => `  ${document} is not there: its questions were not asked.`),
    " ".repeat(18) +
      ["contains", "cited", "answers", "figures", "abstains"].map((name) => name.padStart(10)).join(""),
    shares("all", all),
    shares("worked on", worked),
    shares("held out", heldOut),
    ...Object.entries(byKind).map(([kind, scores]) => shares(kind, scores)),
    ...failures.map(
      ({ answer, citations, id, question, retrieved }) =>
        `  ${id} ${question}\n      ${retrieved ? "" : "not retrieved; "}${answer.replace(/\s+/g, " ").slice(0, 160)} [${citations.join("; ")}]`
    )
  ].join("\n")

export const qa = Command.make(
  "qa",
  {
    data: dataFlag(HOLDS),
    questions: Flag.File("questions").pipe(
      Flag.withDescription(`File of questions, one JSON object a line. Default ${QUESTIONS}`),
      Flag.withDefault(QUESTIONS)
    ),
    json
  },
  ({ data, json, questions }) =>
    Effect.gen(function* () {
      const folder = yield* dataFolder(data, HOLDS)
      const evaluation = yield* evaluateAnswers({
        questions,
        folders: [SAMPLES, join(folder, "figures")],
        onQuestion: (asked, of) => (asked % 25 === 0 ? note(`${asked} of ${of} questions`) : Effect.void)
      })
      yield* print(json, evaluation, () => render(evaluation))
    }).pipe(Effect.scoped, Effect.provide(Layer.provide(NarrowLayer, ServerConfig.layer)))
).pipe(
  Command.withDescription(
    "Questions with expected page, figure or text: answered, cited, and left unanswered when they should be"
  )
)
