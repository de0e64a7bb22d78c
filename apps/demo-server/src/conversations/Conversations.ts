/** The conversations of all users, in the accounts' database. */
import type { ConversationTurn } from "@sluice/core/models"
import { Failure } from "@sluice/core/contract"
import { turnOf } from "@sluice/rag"
import { Clock, Context, Effect, Layer, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { hashSecret } from "../accounts/Secret.ts"
import { AnswerBody } from "../contract/Answer.ts"
import {
  type ConversationBody,
  type ConversationSummary,
  MAX_TITLE,
  Rating
} from "../contract/Conversations.ts"
import { parseReference } from "../contract/Names.ts"
import { Members } from "../sharing/Members.ts"
import { Integer } from "../sql/Integer.ts"
import { oneNumber, tableRows } from "../sql/Rows.ts"
import { catchSqlError } from "../sql/StoreFailure.ts"
import { readCommitted } from "../sql/Transaction.ts"

const LIMITS = {
  /** Conversations of a user. For a new one, the oldest that is not shared is removed. */
  conversations: 1_000,
  /** Bytes of a user's answers in them: 256 MiB. */
  bytes: 256 * 1024 * 1024,
  /** Turns of a conversation. An answer with its trace has about 100 KiB. */
  turns: 200,
  /** Turns that complete a question: those that a model rewrites it with. */
  history: 6
} as const

const Row = Schema.Struct({
  id: Schema.String,
  user_id: Schema.String,
  title: Schema.String,
  collection: Schema.String,
  created: Integer,
  updated: Integer,
  share: Schema.NullOr(Schema.String)
})
const TurnRow = Schema.Struct({
  number: Integer,
  answer: Schema.fromJsonString(AnswerBody),
  rating: Schema.NullOr(Rating)
})
/** What the next question needs of an answer: to decode its passages and its trace takes most of the time. */
const HistoryRow = Schema.Struct({
  answer: Schema.fromJsonString(
    Schema.Struct({
      ...Struct.pick(AnswerBody.fields, ["answer", "found", "question", "standalone"]),
      trace: Schema.Struct({ collection: Schema.String })
    })
  )
})
const { first, rows } = tableRows(Row)
/** Row by row, so that other requests run between them: 200 turns of 100 KiB take half a second. */
const decodeEach = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return Effect.forEach((row: unknown) => Effect.andThen(Effect.yieldNow, decode(row)))
}
const decodeTurns = decodeEach(TurnRow)
const decodeHistory = decodeEach(HistoryRow)
const { first: total } = tableRows(Schema.Struct({ n: Integer, bytes: Integer }))
const { rows: sizes } = tableRows(Schema.Struct({ id: Schema.String, bytes: Integer }))
const encodeAnswer = Schema.encodeEffect(Schema.fromJsonString(AnswerBody))

const summaryOf = (row: typeof Row.Type): ConversationSummary => ({
  ...Struct.omit(row, ["share", "user_id"]),
  shared: row.share !== null
})

const notFound = new Failure({
  status: 404,
  message: "There is no such conversation. It may have been removed",
  code: "not_found",
  param: "conversation"
})
const notShared = new Failure({
  status: 403,
  message:
    "This conversation has answers from a collection that is no longer shared with you. You can remove it",
  code: "not_shared",
  param: "conversation"
})
const tooMany = (message: string) =>
  new Failure({ status: 409, message, code: "too_many", param: "conversation" })

/** A conversation that a question begins or continues. */
export interface OpenConversation {
  readonly id: string
  readonly isNew: boolean
  readonly history: ReadonlyArray<ConversationTurn>
  /** The turn that the answer replaces, with those after it. Absent: it becomes the next turn. */
  readonly replaces: number | undefined
}

/** A title of a question. PostgreSQL rejects NUL in text. */
const titleOf = (question: string): string =>
  question
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MAX_TITLE)

const makeReads = (sql: SqlClient.SqlClient, members: Members["Service"]) => {
  /** Answers quote documents: who may no longer read a shared collection may no longer read its answers. */
  const checkAccess = Effect.fnUntraced(function* (
    user: string,
    turns: ReadonlyArray<{ readonly answer: { readonly trace: Pick<AnswerBody["trace"], "collection"> } }>
  ) {
    for (const reference of new Set(turns.map(({ answer }) => answer.trace.collection))) {
      const { name, owner } = parseReference(reference)
      if (owner !== undefined && (yield* members.access(owner, name, user)) === undefined)
        return yield* notShared
    }
  })
  const selected = sql`SELECT id, user_id, title, collection, created_at AS created, updated_at AS updated, share
    FROM conversations`
  const find = Effect.fnUntraced(function* (user: string, id: string) {
    const query = sql`${selected} WHERE id = ${id} AND user_id = ${user}`
    return (yield* catchSqlError(first(query))) ?? (yield* notFound)
  })
  const lastTurn = (id: string) =>
    oneNumber(sql`SELECT MAX(number) AS n FROM conversation_turns WHERE conversation_id = ${id}`)
  /** The last turns before one, oldest first. */
  const historyOf = Effect.fnUntraced(function* (user: string, id: string, before: number) {
    const rows = yield* catchSqlError(
      sql`SELECT answer FROM conversation_turns
        WHERE conversation_id = ${id} AND number < ${before} ORDER BY number DESC LIMIT ${LIMITS.history}`
    )
    const turns = yield* Effect.orDie(decodeHistory(rows))
    yield* checkAccess(user, turns)
    return turns.toReversed().map(({ answer }) => turnOf(answer))
  })
  const bodyOf = Effect.fnUntraced(function* (
    row: typeof Row.Type
  ): Effect.fn.Return<ConversationBody, Failure> {
    const rows = yield* catchSqlError(
      sql`SELECT number, answer, rating FROM conversation_turns WHERE conversation_id = ${row.id} ORDER BY number`
    )
    const turns = yield* Effect.orDie(decodeTurns(rows))
    yield* checkAccess(row.user_id, turns)
    return {
      ...summaryOf(row),
      turns: turns.map(({ answer, number, rating }) => ({ number, answer, ...(rating && { rating }) }))
    }
  })

  /** Begins a conversation (`new`), or continues one. `turn` replaces this turn and those after it. */
  const open = Effect.fn("Conversations.open")(function* (
    user: string,
    id: string,
    turn: number | undefined
  ): Effect.fn.Return<OpenConversation, Failure> {
    if (id === "new") {
      const shared = sql`SELECT COUNT(*) AS n FROM conversations WHERE user_id = ${user} AND share IS NOT NULL`
      if ((yield* catchSqlError(oneNumber(shared))) >= LIMITS.conversations)
        return yield* tooMany(`You share ${LIMITS.conversations} conversations. Remove some`)
      return { id: crypto.randomUUID(), isNew: true, history: [], replaces: undefined }
    }
    yield* find(user, id)
    const next = turn ?? (yield* catchSqlError(lastTurn(id))) + 1
    if (next > LIMITS.turns)
      return yield* tooMany(`This conversation has ${LIMITS.turns} questions. Begin a new one`)
    const history = yield* historyOf(user, id, next)
    return { id, isNew: false, history, replaces: turn }
  })

  return {
    find,
    lastTurn,
    open,
    bodyOf,
    list: Effect.fn("Conversations.list")(function* (user: string) {
      const query = sql`${selected} WHERE user_id = ${user} ORDER BY updated_at DESC, id`
      return (yield* catchSqlError(rows(query))).map(summaryOf)
    }),
    shared: Effect.fn("Conversations.shared")(function* (secret: string) {
      const query = sql`${selected} WHERE share = ${hashSecret(secret)}`
      const row = yield* catchSqlError(first(query))
      if (row === undefined) return yield* notFound
      return yield* Effect.catchIf(
        bodyOf(row),
        (failure) => failure === notShared,
        () => notFound
      )
    })
  }
}

/** Parts of a transaction. */
const makeRemovals = (sql: SqlClient.SqlClient) => {
  const removeRow = Effect.fnUntraced(function* (id: string) {
    // The row's lock: no answer is kept meanwhile.
    yield* sql`UPDATE conversations SET updated_at = updated_at WHERE id = ${id}`
    yield* sql`DELETE FROM conversation_turns WHERE conversation_id = ${id}`
    yield* sql`DELETE FROM conversations WHERE id = ${id}`
  })

  /** Removes the oldest conversations without a link until the others are within the limits. Fails if they are not. */
  const makeRoom = Effect.fnUntraced(function* (user: string, kept: string) {
    const ofUser = sql`FROM conversations WHERE user_id = ${user}`
    const all = yield* total(sql`SELECT COUNT(*) AS n, COALESCE(SUM(bytes), 0) AS bytes ${ofUser}`)
    let { bytes, n } = all ?? { bytes: 0, n: 0 }
    const isOver = () => n > LIMITS.conversations || bytes > LIMITS.bytes
    if (!isOver()) return
    const removable = sql`SELECT id, bytes ${ofUser} AND share IS NULL AND id <> ${kept} ORDER BY updated_at, id`
    for (const oldest of yield* sizes(removable)) {
      if (!isOver()) return
      yield* removeRow(oldest.id)
      n--
      bytes -= oldest.bytes
    }
    if (isOver()) return yield* tooMany("Your conversations are full. Remove some")
  })
  return { makeRoom, removeRow }
}

/** Every method is of one user's conversations, except `shared`. A missing or another's conversation fails with 404. */
export class Conversations extends Context.Service<Conversations>()("@sluice/demo-server/Conversations", {
  make: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const inTransaction = <A, E, R>(self: Effect.Effect<A, E, R>) =>
      Effect.provideService(readCommitted(self), SqlClient.SqlClient, sql)

    const { bodyOf, find, lastTurn, ...reads } = makeReads(sql, yield* Members)
    const { makeRoom, removeRow } = makeRemovals(sql)

    /**
     * Keeps an answer, and returns it with its place. The first one makes the conversation.
     *
     * **Gotchas.** It is returned without a place if its conversation was removed meanwhile, there is no room, or the
     * database fails: it has been charged.
     */
    const keep = Effect.fn("Conversations.keep")(function* (
      user: string,
      { id, isNew, replaces }: OpenConversation,
      answer: AnswerBody
    ) {
      const now = yield* Clock.currentTimeMillis
      return yield* Effect.gen(function* () {
        const times = { created_at: now, updated_at: now }
        const title = titleOf(answer.question)
        const row = { id, user_id: user, title, collection: answer.trace.collection, share: null, ...times }
        // The row's lock orders the answers of two questions at once.
        const rows = yield* isNew
          ? sql`INSERT INTO conversations ${sql.insert(row)} RETURNING id`
          : sql`UPDATE conversations SET updated_at = ${now} WHERE id = ${id} AND user_id = ${user} RETURNING id`
        if (rows.length === 0) return answer
        if (replaces !== undefined)
          yield* sql`DELETE FROM conversation_turns WHERE conversation_id = ${id} AND number >= ${replaces}`
        const turn = replaces ?? (yield* lastTurn(id)) + 1
        const whole: AnswerBody = { ...answer, conversation: { id, turn } }
        const json = yield* Effect.orDie(encodeAnswer(whole))
        const turnRow = { conversation_id: id, number: turn, answer: json, rating: null, created_at: now }
        yield* sql`INSERT INTO conversation_turns ${sql.insert(turnRow)}`
        yield* sql`UPDATE conversations SET bytes = (SELECT SUM(octet_length(answer)) FROM conversation_turns
          WHERE conversation_id = ${id}) WHERE id = ${id}`
        yield* makeRoom(user, id)
        return whole
      }).pipe(
        inTransaction,
        catchSqlError,
        Effect.orElseSucceed(() => answer)
      )
    })

    return {
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
        yield* catchSqlError(inTransaction(removeRow(id)))
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
