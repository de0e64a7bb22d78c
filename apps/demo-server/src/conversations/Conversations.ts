/** The conversations of all users, in the accounts' database. */
import type { ConversationTurn } from "@sluice/core"
import { Failure } from "@sluice/core/contract"
import { turnOf } from "@sluice/rag"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hashSecret } from "../accounts/Secret.ts"
import { AnswerBody } from "../contract/Answer.ts"
import {
  type ConversationBody,
  type ConversationSummary,
  MAX_TITLE,
  Rating
} from "../contract/Conversations.ts"
import { Integer } from "../sql/Integer.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { readCommitted } from "../sql/Transaction.ts"

const LIMITS = {
  /** Conversations of a user. */
  conversations: 1_000,
  /** Turns of a conversation. An answer with its trace has about 100 KiB. */
  turns: 200
} as const

const Row = Schema.Struct({
  id: Schema.String,
  user_id: Schema.String,
  title: Schema.String,
  collection: Schema.String,
  created_at: Integer,
  updated_at: Integer,
  share: Schema.NullOr(Schema.String)
})
const TurnRow = Schema.Struct({
  number: Integer,
  answer: Schema.fromJsonString(AnswerBody),
  rating: Schema.NullOr(Rating)
})
const decodeRows = Schema.decodeUnknownEffect(Schema.Array(Row))
const decodeTurns = Schema.decodeUnknownEffect(Schema.Array(TurnRow))
const encodeAnswer = Schema.encodeEffect(Schema.fromJsonString(AnswerBody))

const summaryOf = ({
  collection,
  created_at,
  id,
  share,
  title,
  updated_at
}: typeof Row.Type): ConversationSummary => ({
  id,
  title,
  collection,
  created: created_at,
  updated: updated_at,
  shared: share !== null
})

const notFound = new Failure({
  status: 404,
  message: "There is no such conversation. It may have been removed",
  code: "not_found",
  param: "conversation"
})
const tooMany = (message: string) =>
  new Failure({ status: 409, message, code: "too_many", param: "conversation" })

/** A conversation that a question continues. */
export interface OpenConversation {
  readonly id: string
  readonly history: ReadonlyArray<ConversationTurn>
  /** The turn that the answer becomes. Later ones are replaced. */
  readonly turn: number
}

const makeReads = (sql: SqlClient.SqlClient) => {
  const find = Effect.fnUntraced(function* (user: string, id: string) {
    const [row] = yield* Effect.orDie(
      Effect.flatMap(
        catchSqlError(sql`SELECT * FROM conversations WHERE id = ${id} AND user_id = ${user}`),
        decodeRows
      )
    )
    return row ?? (yield* notFound)
  })
  const turnsOf = (id: string) =>
    Effect.orDie(
      Effect.flatMap(
        sql`SELECT number, answer, rating FROM conversation_turns WHERE conversation_id = ${id} ORDER BY number`,
        decodeTurns
      )
    )
  const bodyOf = (row: typeof Row.Type): Effect.Effect<ConversationBody> =>
    Effect.map(turnsOf(row.id), (turns) => ({
      ...summaryOf(row),
      turns: turns.map(({ answer, number, rating }) => ({ number, answer, ...(rating && { rating }) }))
    }))

  return {
    find,
    turnsOf,
    bodyOf,
    list: Effect.fn("Conversations.list")(function* (user: string) {
      const rows = yield* catchSqlError(
        sql`SELECT * FROM conversations WHERE user_id = ${user} ORDER BY updated_at DESC, id`
      )
      return (yield* Effect.orDie(decodeRows(rows))).map(summaryOf)
    }),
    shared: Effect.fn("Conversations.shared")(function* (secret: string) {
      const rows = yield* catchSqlError(sql`SELECT * FROM conversations WHERE share = ${hashSecret(secret)}`)
      const [row] = yield* Effect.orDie(decodeRows(rows))
      return yield* row === undefined ? notFound : bodyOf(row)
    })
  }
}

/** Every method is of one user's conversations, except `shared`. A missing or another's conversation fails with 404. */
export class Conversations extends Context.Service<Conversations>()("@sluice/demo-server/Conversations", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inTransaction = <A, E, R>(self: Effect.Effect<A, E, R>) =>
      Effect.provideService(readCommitted(self), SqlClient.SqlClient, sql)

    const { bodyOf, find, turnsOf, ...reads } = makeReads(sql)

    /** Begins a conversation (`new`), or continues one. `turn` replaces this turn and those after it. */
    const open = Effect.fn("Conversations.open")(function* (
      user: string,
      id: string,
      turn: number | undefined
    ) {
      if (id === "new") {
        const [count] = yield* catchSqlError(
          sql<{ n: number }>`SELECT COUNT(*) AS n FROM conversations WHERE user_id = ${user}`
        )
        if (Number(count?.n) >= LIMITS.conversations)
          return yield* tooMany(`You have ${LIMITS.conversations} conversations. Remove some`)
        return { id: crypto.randomUUID(), history: [], turn: 1 } satisfies OpenConversation
      }
      yield* find(user, id)
      const turns = yield* turnsOf(id)
      const next = turn ?? (turns.at(-1)?.number ?? 0) + 1
      if (next > LIMITS.turns)
        return yield* tooMany(`This conversation has ${LIMITS.turns} questions. Begin a new one`)
      const history = turns.filter(({ number }) => number < next).map(({ answer }) => turnOf(answer))
      return { id, history, turn: next } satisfies OpenConversation
    })

    /** Keeps an answer. The first one makes the conversation. */
    const keep = Effect.fn("Conversations.keep")(function* (
      user: string,
      { id, turn }: OpenConversation,
      answer: AnswerBody
    ) {
      const now = yield* Clock.currentTimeMillis
      const json = yield* Effect.orDie(encodeAnswer(answer))
      yield* Effect.gen(function* () {
        const times = { created_at: now, updated_at: now }
        const title = answer.question.replaceAll(/\s+/g, " ").trim().slice(0, MAX_TITLE)
        const row = { id, user_id: user, title, collection: answer.trace.collection, share: null, ...times }
        // The row's lock orders the answers of two questions at once.
        yield* sql`INSERT INTO conversations ${sql.insert(row)}
          ON CONFLICT (id) DO UPDATE SET updated_at = ${now}`
        yield* sql`DELETE FROM conversation_turns WHERE conversation_id = ${id} AND number >= ${turn}`
        const turnRow = { conversation_id: id, number: turn, answer: json, rating: null, created_at: now }
        yield* sql`INSERT INTO conversation_turns ${sql.insert(turnRow)}`
      }).pipe(inTransaction, catchSqlError)
    })

    return {
      open,
      keep,
      ...reads,
      get: (user: string, id: string) => Effect.flatMap(find(user, id), bodyOf),
      rename: Effect.fn("Conversations.rename")(function* (user: string, id: string, title: string) {
        yield* catchSqlError(
          sql`UPDATE conversations SET title = ${title} WHERE id = ${id} AND user_id = ${user}`
        )
        return summaryOf(yield* find(user, id))
      }),
      remove: Effect.fn("Conversations.remove")(function* (user: string, id: string) {
        yield* find(user, id)
        yield* Effect.andThen(
          sql`DELETE FROM conversation_turns WHERE conversation_id = ${id}`,
          sql`DELETE FROM conversations WHERE id = ${id}`
        ).pipe(inTransaction, catchSqlError)
      }),
      rate: Effect.fn("Conversations.rate")(function* (
        user: string,
        id: string,
        number: number,
        rating: Rating | null
      ) {
        yield* find(user, id)
        const changed = yield* catchSqlError(
          sql`UPDATE conversation_turns SET rating = ${rating}
            WHERE conversation_id = ${id} AND number = ${number} RETURNING number`
        )
        if (changed.length === 0) return yield* notFound
      }),
      /** `secret` opens the conversation to everybody; null closes it. */
      share: Effect.fn("Conversations.share")(function* (user: string, id: string, secret: string | null) {
        yield* find(user, id)
        const hash = secret === null ? null : hashSecret(secret)
        yield* catchSqlError(sql`UPDATE conversations SET share = ${hash} WHERE id = ${id}`)
      })
    }
  })
}) {
  static readonly layer = Layer.effect(Conversations, Conversations.make)
}

/** The answers that a user rated, newest first. */
export const ratedAnswers = Effect.fn("Conversations.ratedAnswers")(function* (user: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql`SELECT t.number, t.answer, t.rating FROM conversation_turns t
    JOIN conversations c ON c.id = t.conversation_id
    WHERE c.user_id = ${user} AND t.rating IS NOT NULL ORDER BY t.created_at DESC`
  return yield* Effect.orDie(decodeTurns(rows))
})
