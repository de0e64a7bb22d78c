/** The questions are what the evaluation takes them for, and the samples' are answered. */
import { assert, describe, it } from "@effect/vitest"
import * as Embedded from "@sluice/embedded"
import { evaluateAnswers, expectedAnswers, isHeldOut } from "@sluice/rag/evaluation"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { testFolder } from "../rag/TestFolder.ts"

const QUESTIONS = join(import.meta.dirname, "questions.jsonl")
const SAMPLES = join(import.meta.dirname, "../../apps/demo-server/samples")

describe("the questions of the document-QA evaluation", () => {
  it.effect("are many, of every kind, and a third is held out", () =>
    Effect.gen(function* () {
      const questions = yield* expectedAnswers(QUESTIONS)
      const count = (of: (question: (typeof questions)[number]) => boolean) => questions.filter(of).length
      assert.isAtLeast(questions.length, 60)
      assert.strictEqual(new Set(questions.map(({ id }) => id)).size, questions.length)
      assert.isAtLeast(
        count(({ kind }) => kind === "figure" || kind === "table"),
        25
      )
      assert.isAtLeast(
        count(({ kind }) => kind === "none"),
        10
      )
      assert.isAtLeast(
        count(({ question }) => /\p{Script=Han}/u.test(question)),
        5
      )
      assert.approximately(count(({ id }) => isHeldOut(id)) / questions.length, 1 / 3, 0.08)
      for (const { contains, document, id, kind } of questions) {
        assert.strictEqual(document === undefined, kind === "none", id)
        assert.strictEqual(contains === undefined, kind === "none", id)
        // The papers are not part of this project; its own documents are.
        if (document?.includes("/") === true) assert.isTrue(existsSync(join(SAMPLES, document)), id)
      }
    })
  )

  it.effect("are asked where their document is there, and judged by what is said and cited", () =>
    Effect.gen(function* () {
      const { folder, write } = yield* testFolder
      yield* write("docs/tide.md", "# Tide\n\nThe tide gate is opened at 06:30 every morning.\n")
      const question = {
        id: "a",
        kind: "text",
        question: "When is the tide gate opened?",
        document: "tide.md"
      }
      const lines = [
        { ...question, contains: ["06:30"], at: [{}] },
        { ...question, id: "b", contains: ["6:30"] },
        { ...question, id: "c", contains: ["06:30"], at: [{ page: 2 }] },
        { ...question, id: "d", document: "absent.md", contains: ["06:30"] },
        { id: "e", kind: "none", question: "Who painted the ceiling of the chapel?" }
      ]
      const file = join(folder, "questions.jsonl")
      yield* Effect.promise(() => writeFile(file, lines.map((line) => JSON.stringify(line)).join("\n")))
      const evaluation = yield* evaluateAnswers({
        questions: file,
        folders: [join(folder, "docs"), "/nowhere"]
      })
      assert.deepStrictEqual(
        [evaluation.questions, evaluation.ran, evaluation.missing],
        [5, 4, ["absent.md"]]
      )
      const { abstainsWhenItShould, answerContains, answersWhenItShould, citationRight } = evaluation.all
      assert.deepStrictEqual([abstainsWhenItShould, answersWhenItShould], [1, 1])
      assert.deepStrictEqual([answerContains, citationRight], [2 / 3, 2 / 3])
      assert.deepStrictEqual(
        evaluation.failures.map(({ id, retrieved }) => [id, retrieved]),
        [
          ["b", true],
          ["c", false]
        ]
      )
      yield* Effect.promise(() => writeFile(file, '{"id":"a"}'))
      const malformed = yield* Effect.flip(evaluateAnswers({ questions: file, folders: [] }))
      assert.strictEqual(malformed.reason, "Malformed")
      assert.match(malformed.message, /Line 1 of/)
    }).pipe(Effect.provide(Embedded.layer), Effect.scoped)
  )
})
