/** What an answer is worth, compared with what a careful reader of the documents expects. */
import { createHash } from "node:crypto"
import { Schema } from "effect"
import { escape } from "effect/RegExp"
import type { Answer } from "../answering/Answer.ts"
import type { Citation } from "../document/Document.ts"

/** Where the answer stands: a page, a figure or a table, one of them, or anywhere in the document. */
const ExpectedPlace = Schema.Struct({
  page: Schema.optionalKey(Schema.Int),
  figure: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(["figure", "table"]),
      number: Schema.optionalKey(Schema.String)
    })
  )
})

/** A question, and what its answer must say and cite; without `document` it must be left unanswered. */
export const ExpectedAnswer = Schema.Struct({
  id: Schema.NonEmptyString,
  /** What it is about: `text`, `table`, `figure`; `none` where the documents do not answer it. */
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

/** What became of one question. */
export interface JudgedAnswer {
  readonly id: string
  readonly kind: ExpectedAnswer["kind"]
  readonly question: string
  readonly heldOut: boolean
  readonly answered: boolean
  readonly contains: boolean
  readonly cited: boolean
  readonly answer: string
  /** What was cited: document, page, figure. */
  readonly citations: ReadonlyArray<string>
  /** Whether a passage kept, or one looked at, was of the right place: where not, retrieval missed it. */
  readonly retrieved: boolean
}

/** Shares, 0 to 1; `undefined` where there was no such question. */
export interface AnswerScores {
  readonly questions: number
  /** Of the questions that have an answer: it says what it must. */
  readonly answerContains: number | undefined
  /** … it cites the document and, where expected, the page and the figure. */
  readonly citationRight: number | undefined
  /** … something was answered. */
  readonly answersWhenItShould: number | undefined
  /** Of the questions about figures and tables: says what it must and cites where it stands. */
  readonly figureQuestionsRight: number | undefined
  /** Of the questions without an answer: none was given. */
  readonly abstainsWhenItShould: number | undefined
}

/** One third is never looked at while the readers are worked on; which, is drawn by this seed. */
const SEED = "sluice-qa-1"
export const isHeldOut = (id: string): boolean =>
  (createHash("sha256").update(`${SEED} ${id}`).digest()[0] ?? 0) % 3 === 0

/** Dashes, spaces and case make no difference; a number is not a part of another. */
const level = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‐-―−]/g, "-")
    .replace(/\s+/g, " ")

const says = (answer: string, wanted: string): boolean => {
  return new RegExp(`(?<![a-z\\d]|\\d[.,])${escape(level(wanted))}(?![a-z\\d]|[.,]\\d)`, "u").test(
    level(answer)
  )
}

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
    contains: answer.found && (expected.contains ?? []).some((wanted) => says(answer.answer, wanted)),
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

/** Whether nothing is to be mended. */
export const isRight = ({ answered, cited, contains, kind }: JudgedAnswer): boolean =>
  kind === "none" ? !answered : cited && contains
