/** Compares answers with expected ones. */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { escape } from "effect/RegExp"
import type { Answer } from "../answering/Answer.ts"
import type { Citation } from "../document/Document.ts"

/** Where the answer is: a page, a figure or a table; if none is given, anywhere in the document. */
const ExpectedPlace = Schema.Struct({
  page: Schema.optionalKey(Schema.Int),
  figure: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(["figure", "table"]),
      number: Schema.optionalKey(Schema.String)
    })
  )
})

/** A question and what its answer must contain and cite. Without `document`, the correct answer is to abstain. */
export const ExpectedAnswer = Schema.Struct({
  id: Schema.NonEmptyString,
  /** The kind of source; `none` if the documents do not answer the question. */
  kind: Schema.Literals(["text", "table", "figure", "none"]),
  question: Schema.NonEmptyString,
  /** Path of the document. */
  document: Schema.optionalKey(Schema.NonEmptyString),
  /** The answer contains one of them. */
  contains: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  /** One of them is cited. */
  at: Schema.optionalKey(Schema.Array(ExpectedPlace))
})
export type ExpectedAnswer = typeof ExpectedAnswer.Type

/** The judgement of one answer. */
export interface JudgedAnswer {
  readonly id: string
  readonly kind: ExpectedAnswer["kind"]
  readonly question: string
  readonly heldOut: boolean
  readonly answered: boolean
  readonly contains: boolean
  readonly cited: boolean
  readonly answer: string
  /** Document, page, figure. */
  readonly citations: ReadonlyArray<string>
  /** True if a kept passage or a figure that was looked at is from the right place. */
  readonly retrieved: boolean
}

/** Shares, 0 to 1; `undefined` without such questions. */
export interface AnswerScores {
  readonly questions: number
  /** Of the questions with an answer: contains an expected text. */
  readonly answerContains: number | undefined
  /** … cites the document and, if expected, the page and the figure. */
  readonly citationRight: number | undefined
  /** … does not abstain. */
  readonly answersWhenItShould: number | undefined
  /** Of the questions about figures and tables: contains an expected text and cites its place. */
  readonly figureQuestionsRight: number | undefined
  /** Of the questions without an answer: abstains. */
  readonly abstainsWhenItShould: number | undefined
}

/** Selects the third of the questions that is held out from development. */
const SEED = "sluice-qa-1"
export const isHeldOut = (id: string): boolean =>
  (createHash("sha256").update(`${SEED} ${id}`).digest()[0] ?? 0) % 3 === 0

/** Without differences in dashes, spaces and case. */
const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‐-―−]/g, "-")
    .replace(/\s+/g, " ")

/** Whole words: a number is not a part of another. */
const includesWords = (answer: string, words: string): boolean =>
  new RegExp(`(?<![a-z\\d]|\\d[.,])${escape(normalize(words))}(?![a-z\\d]|[.,]\\d)`, "u").test(
    normalize(answer)
  )

type Place = Pick<Citation, "page" | "figure" | "boxes"> & { readonly path: string }

const isAt = (expected: ExpectedAnswer, { boxes, figure, page, path }: Place): boolean =>
  path === expected.document &&
  (expected.at ?? [{}]).some(
    (place) =>
      (place.page === undefined ||
        page === place.page ||
        figure?.page === place.page ||
        boxes.some((box) => box.page === place.page)) &&
      (place.figure === undefined ||
        (figure?.kind === place.figure.kind &&
          (place.figure.number === undefined || figure.number === place.figure.number)))
  )

export const judgeAnswer = (expected: ExpectedAnswer, answer: Answer): JudgedAnswer => {
  const cited = answer.citations.map((citation): Place => ({ ...citation, path: citation.document }))
  const looked = answer.figures.map(({ document, figure }): Place => ({ figure, path: document, boxes: [] }))
  const kept = answer.trace.passages
    .filter((traced) => traced.kept)
    .map(({ passage: { document, figure, lines, page } }): Place => ({
      path: document.path,
      boxes: lines,
      ...(page === undefined ? {} : { page }),
      ...(figure === undefined ? {} : { figure })
    }))
  return {
    id: expected.id,
    kind: expected.kind,
    question: expected.question,
    heldOut: isHeldOut(expected.id),
    answered: answer.found,
    contains: answer.found && (expected.contains ?? []).some((words) => includesWords(answer.answer, words)),
    cited: cited.some((place) => isAt(expected, place)),
    answer: answer.answer,
    citations: cited.map(({ figure, page, path }) =>
      [path, page === undefined ? "" : `page ${page}`, figure === undefined ? "" : nameOf(figure)]
        .filter((part) => part !== "")
        .join(", ")
    ),
    retrieved: [...kept, ...looked].some((place) => isAt(expected, place))
  }
}

const nameOf = ({ kind, number }: NonNullable<Place["figure"]>): string =>
  number === undefined ? kind : `${kind} ${number}`

export const scoreAnswers = (judged: ReadonlyArray<JudgedAnswer>): AnswerScores => {
  const share = (of: ReadonlyArray<JudgedAnswer>, good: (one: JudgedAnswer) => boolean) =>
    of.length === 0 ? undefined : of.filter(good).length / of.length
  const due = judged.filter(({ kind }) => kind !== "none")
  const pictured = due.filter(({ kind }) => kind !== "text")
  return {
    questions: judged.length,
    answerContains: share(due, ({ contains }) => contains),
    citationRight: share(due, ({ cited }) => cited),
    answersWhenItShould: share(due, ({ answered }) => answered),
    figureQuestionsRight: share(pictured, ({ cited, contains }) => cited && contains),
    abstainsWhenItShould: share(
      judged.filter(({ kind }) => kind === "none"),
      ({ answered }) => !answered
    )
  }
}

/** True if the answer is right, or rightly none. */
export const isRight = ({ answered, cited, contains, kind }: JudgedAnswer): boolean =>
  kind === "none" ? !answered : cited && contains
