/** Scores answers against those that a careful reader of the documents expects. */
import type { NotReadReason } from "@sluice/core/models"
import { Schema, Struct } from "effect"
import { escape } from "effect/RegExp"
import type { Answer } from "../answering/Answer.ts"
import type { Citation } from "../document/Document.ts"
import { sha256 } from "../document/Hash.ts"

/** The place of the answer: a page, a figure or table, or both. Empty: anywhere in the document. */
const ExpectedPlace = Schema.Struct({
  page: Schema.optionalKey(Schema.Int),
  figure: Schema.optionalKey(
    Schema.Struct({
      kind: Schema.Literals(["figure", "table"]),
      number: Schema.optionalKey(Schema.String)
    })
  )
})

/** A question, and what its answer must contain and cite. Without `document` it must not be answered. */
export const ExpectedAnswer = Schema.Struct({
  id: Schema.NonEmptyString,
  /** Where its answer is; `none` if the documents do not answer it. */
  kind: Schema.Literals(["text", "table", "figure", "none"]),
  question: Schema.NonEmptyString,
  /** Path of the document. */
  document: Schema.optionalKey(Schema.NonEmptyString),
  /** The answer must contain one of these. */
  contains: Schema.optionalKey(Schema.Array(Schema.NonEmptyString)),
  /** One of these must be cited. */
  at: Schema.optionalKey(Schema.Array(ExpectedPlace))
})
export type ExpectedAnswer = typeof ExpectedAnswer.Type

export interface JudgedAnswer extends Pick<ExpectedAnswer, "id" | "kind" | "question"> {
  readonly heldOut: boolean
  readonly answered: boolean
  /** Why the model's response, or its end, was not read. `failed`: there was none. */
  readonly notRead?: NotReadReason | "failed"
  readonly contains: boolean
  readonly cited: boolean
  readonly answer: string
  /** Document, page and figure of each citation. */
  readonly citations: ReadonlyArray<string>
  /** Whether a kept passage, or a figure that was looked at, is at the expected place. If not, retrieval missed it. */
  readonly retrieved: boolean
}

/** Shares, 0 to 1. Undefined without such questions. */
export interface AnswerScores {
  readonly questions: number
  /** Questions with an expected answer whose answer contains it. */
  readonly answerContains: number | undefined
  /** Questions with an expected answer that cite its place. */
  readonly citationRight: number | undefined
  /** Questions with an expected answer that are answered. */
  readonly answersWhenItShould: number | undefined
  /** Questions about figures and tables whose answer contains what is expected and cites its place. */
  readonly figureQuestionsRight: number | undefined
  /** Questions without an expected answer that are not answered. A response that was not read does not count. */
  readonly abstainsWhenItShould: number | undefined
}

/** One third of the questions is held out: not used while the reader is developed. */
const SEED = "sluice-qa-1"
export const isHeldOut = (id: string): boolean =>
  Number.parseInt(sha256(`${SEED} ${id}`).slice(0, 2), 16) % 3 === 0

/** Dashes, white space and case do not matter. */
const normalize = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[‐-―−]/g, "-")
    .replace(/\s+/g, " ")

/** A number is not contained in a longer number. */
const contains = (answer: string, expected: string): boolean =>
  new RegExp(`(?<![a-z\\d]|\\d[.,])${escape(normalize(expected))}(?![a-z\\d]|[.,]\\d)`, "u").test(
    normalize(answer)
  )

interface Place extends Pick<Citation, "boxes"> {
  readonly path: string
  readonly page?: number | undefined
  readonly figure?: Citation["figure"] | undefined
}

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
    .map(({ passage: { document, lines, ...passage } }): Place => ({
      ...passage,
      path: document.path,
      boxes: lines
    }))
  return {
    ...Struct.pick(expected, ["id", "kind", "question"]),
    heldOut: isHeldOut(expected.id),
    answered: answer.found,
    ...(answer.notRead !== undefined && { notRead: answer.notRead.reason }),
    contains: answer.found && (expected.contains ?? []).some((text) => contains(answer.answer, text)),
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
  const answerable = judged.filter(({ kind }) => kind !== "none")
  const unanswerable = judged.filter(({ kind }) => kind === "none")
  const figures = answerable.filter(({ kind }) => kind !== "text")
  return {
    questions: judged.length,
    answerContains: share(answerable, ({ contains }) => contains),
    citationRight: share(answerable, ({ cited }) => cited),
    answersWhenItShould: share(answerable, ({ answered }) => answered),
    figureQuestionsRight: share(figures, ({ cited, contains }) => cited && contains),
    abstainsWhenItShould: share(unanswerable, isRight)
  }
}

export const isRight = ({ answered, cited, contains, kind, notRead }: JudgedAnswer): boolean =>
  kind === "none" ? !answered && notRead === undefined : cited && contains
