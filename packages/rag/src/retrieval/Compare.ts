/** Compares two configurations of retrieval: which kept passages change. */
import { Effect } from "effect"
import type { StoredPassage } from "../document/Document.ts"
import { requireArray } from "../document/Arguments.ts"
import type { RagError } from "../document/RagError.ts"
import type { RetrieveOptions } from "./stages/RetrieveOptions.ts"
import type { Retriever } from "./Retriever.ts"

/** A kept passage with another rank. Ranks count from 1 among the kept passages. */
export interface RankChange {
  readonly passage: StoredPassage
  readonly from: number
  readonly to: number
}

export interface QuestionChange {
  readonly question: string
  /** Kept only by the second configuration, best first. */
  readonly entered: ReadonlyArray<StoredPassage>
  /** Kept only by the first configuration, best first. */
  readonly left: ReadonlyArray<StoredPassage>
  /** Kept by both at different ranks. */
  readonly moved: ReadonlyArray<RankChange>
}

export interface Change {
  readonly questions: ReadonlyArray<QuestionChange>
  /** Questions with any change. */
  readonly changed: number
  readonly entered: number
  readonly left: number
  readonly moved: number
}

/**
 * Retrieves each question with both configurations, which costs two retrievals.
 *
 * **Gotchas.** This does not say which configuration is better: that needs questions with known answers (`sluice eval`).
 */
export const makeCompare = ({ retrieve }: Retriever) =>
  Effect.fn("Library.compare")(function* (
    questions: ReadonlyArray<string>,
    a: RetrieveOptions,
    b: RetrieveOptions
  ): Effect.fn.Return<Change, RagError> {
    const list = yield* requireArray("retrieve", "`questions`", questions)
    const changes = yield* Effect.forEach(list, (question) =>
      Effect.map(Effect.all([retrieve(question, a), retrieve(question, b)]), ([first, second]) =>
        changeOf(question, first.kept, second.kept)
      )
    )
    const sum = (count: (change: QuestionChange) => number): number =>
      changes.reduce((total, change) => total + count(change), 0)
    return {
      questions: changes,
      changed: sum(({ entered, left, moved }) => (entered.length + left.length + moved.length > 0 ? 1 : 0)),
      entered: sum(({ entered }) => entered.length),
      left: sum(({ left }) => left.length),
      moved: sum(({ moved }) => moved.length)
    }
  })

const changeOf = (
  question: string,
  first: ReadonlyArray<StoredPassage>,
  second: ReadonlyArray<StoredPassage>
): QuestionChange => {
  const before = new Map(first.map(({ id }, i) => [id, i + 1]))
  const after = new Set(second.map(({ id }) => id))
  return {
    question,
    entered: second.filter(({ id }) => !before.has(id)),
    left: first.filter(({ id }) => !after.has(id)),
    moved: second.flatMap((passage, i) => {
      const from = before.get(passage.id)
      return from === undefined || from === i + 1 ? [] : [{ passage, from, to: i + 1 }]
    })
  }
}
