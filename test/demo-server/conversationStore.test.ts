/** Conversations in the database: answers at the same time, removal meanwhile, the limit, and a failing database. */
import { assert, it } from "@effect/vitest"
import type { Failure } from "@sluice/core/contract"
import { Array as Arr, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AnswerBody } from "../../apps/demo-server/src/contract/index.ts"
import { Conversations } from "../../apps/demo-server/src/conversations/Conversations.ts"
import { Audit } from "../../apps/demo-server/src/accounts/Audit.ts"
import { Members } from "../../apps/demo-server/src/sharing/Members.ts"
import { ledgerIn } from "./LedgerIn.ts"
import { type NewStore, onStore } from "./Stores.ts"
import { filesOf, startServer, temporaryFolder } from "./TestServer.ts"

const USER = "owner"

/** Runs a test on the conversations of a stopped server, with one of its answers. */
const withConversations = <A, E>(
  store: NewStore,
  test: (answer: AnswerBody) => Effect.Effect<A, E, Conversations | SqlClient.SqlClient>
) =>
  Effect.gen(function* () {
    const data = yield* temporaryFolder
    const env = yield* store
    const answer = yield* Effect.scoped(
      Effect.gen(function* () {
        const server = yield* startServer({ data, env })
        yield* server.call("/documents", { body: filesOf({ "weir.md": "The weir is 31 metres wide." }) })
        return yield* server.json(AnswerBody, "/qa", { json: { question: "How wide is the weir?" } })
      })
    )
    const layer = Conversations.layer.pipe(
      Layer.provide(Members.layer.pipe(Layer.provide(Audit.layer))),
      Layer.provideMerge(ledgerIn(data, env))
    )
    yield* Effect.provide(test(answer), layer)
  }).pipe(Effect.scoped)

const idOf = (answer: AnswerBody) => answer.conversation?.id ?? assert.fail("not kept")

onStore((store) => {
  it.live("two answers at the same time become two turns, and a replaced one ends those after it", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const { get, keep, open } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const [one, other] = [yield* open(USER, id, undefined), yield* open(USER, id, undefined)]
        const kept = yield* Effect.all([keep(USER, one, answer), keep(USER, other, answer)], {
          concurrency: "unbounded"
        })
        assert.sameMembers(
          kept.map(({ conversation }) => conversation?.turn),
          [2, 3]
        )
        const numbers = Effect.map(get(USER, id), ({ turns }) =>
          turns.map(({ answer, number }) => [number, answer.conversation?.turn])
        )
        assert.deepStrictEqual(yield* numbers, [
          [1, 1],
          [2, 2],
          [3, 3]
        ])
        yield* keep(USER, yield* open(USER, id, 2), answer)
        assert.deepStrictEqual(yield* numbers, [
          [1, 1],
          [2, 2]
        ])
      })
    )
  )

  it.live("other requests run between the turns that are read", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const { get, keep, open } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        for (let turn = 2; turn <= 20; turn++) yield* keep(USER, yield* open(USER, id, undefined), answer)
        let runs = 0
        const other = Effect.forever(
          Effect.andThen(
            Effect.sync(() => runs++),
            Effect.yieldNow
          )
        )
        const { turns } = yield* Effect.raceFirst(get(USER, id), other)
        assert.strictEqual(turns.length, 20)
        assert.isAtLeast(runs, 5)
      })
    )
  )

  it.live("a follow-up is completed from the last six turns before it", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const { keep, open } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        for (const n of [2, 3, 4, 5, 6, 7, 8])
          yield* keep(USER, yield* open(USER, id, undefined), { ...answer, question: `Question ${n}` })
        const questions = (turn?: number) =>
          Effect.map(open(USER, id, turn), ({ history }) => history.map(({ question }) => question))
        const expected = [3, 4, 5, 6, 7, 8].map((n) => `Question ${n}`)
        assert.deepStrictEqual(yield* questions(), expected)
        assert.deepStrictEqual(yield* questions(3), [answer.question, "Question 2"])
      })
    )
  )

  it.live("a follow-up reads nothing of a turn but what completes it", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { keep, open } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const { found, question, trace } = answer
        const part = { question, found, answer: "31 metres", trace: { collection: trace.collection } }
        yield* sql`UPDATE conversation_turns SET answer = ${JSON.stringify(part)}`
        const { history } = yield* open(USER, id, undefined)
        assert.deepStrictEqual(history, [{ question, answer: "31 metres" }])
      })
    )
  )

  it.live("an answer does not bring back a conversation that was removed meanwhile", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const { keep, list, open, remove } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const next = yield* open(USER, id, undefined)
        yield* remove(USER, id)
        assert.deepStrictEqual(yield* keep(USER, next, answer), answer)
        assert.isEmpty(yield* list(USER))
      })
    )
  )

  it.live("above the limit, a new conversation removes the oldest that is not shared", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { keep, list, open, share } = yield* Conversations
        const first = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        yield* share(USER, first, "secret")
        const second = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const rows = Arr.makeBy(998, (i) => ({
          id: `later-${i}`,
          user_id: USER,
          title: "",
          collection: "default",
          share: null,
          created_at: 9e12,
          updated_at: 9e12
        }))
        yield* sql`INSERT INTO conversations ${sql.insert(rows)}`
        const last = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const ids = (yield* list(USER)).map(({ id }) => id)
        assert.lengthOf(ids, 1_000)
        assert.includeMembers(ids, [first, last])
        assert.notInclude(ids, second)
        yield* sql`UPDATE conversations SET share = id`
        assert.strictEqual((yield* Effect.flip(open(USER, "new", undefined))).status, 409)
      })
    )
  )

  it.live("above 256 MiB the oldest without a link is removed, and without one the answer is not kept", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { keep, list, open } = yield* Conversations
        const first = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const second = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const [{ bytes } = assert.fail()] = yield* sql<{ bytes: number }>`
          SELECT bytes FROM conversations WHERE id = ${second}`
        assert.isAbove(Number(bytes), 1_000)
        yield* sql`UPDATE conversations SET bytes = ${256 * 1024 * 1024}, updated_at = 1 WHERE id = ${first}`
        const third = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const kept = Effect.map(list(USER), (all) => all.map(({ id }) => id))
        assert.sameMembers(yield* kept, [second, third])
        yield* sql`UPDATE conversations SET bytes = ${256 * 1024 * 1024}, share = id WHERE id = ${second}`
        assert.deepStrictEqual(yield* keep(USER, yield* open(USER, "new", undefined), answer), answer)
        assert.include(yield* kept, second)
      })
    )
  )

  it.live("a failing database is status 503, and the answer is returned all the same", () =>
    withConversations(store, (answer) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { get, keep, open, rate, remove, share } = yield* Conversations
        const id = idOf(yield* keep(USER, yield* open(USER, "new", undefined), answer))
        const next = yield* open(USER, id, undefined)
        const status = <A, R>(use: Effect.Effect<A, Failure, R>) =>
          Effect.map(Effect.flip(use), ({ status }) => status)
        const statuses = Effect.all([status(get(USER, id)), status(open(USER, id, undefined))])
        yield* sql`ALTER TABLE conversation_turns RENAME TO away`
        assert.deepStrictEqual(yield* statuses, [503, 503])
        yield* sql`ALTER TABLE conversations RENAME TO conversations_away`
        assert.deepStrictEqual(yield* keep(USER, next, answer), answer)
        assert.deepStrictEqual(yield* statuses, [503, 503])
        for (const use of [rate(USER, id, 1, "up"), remove(USER, id), share(USER, id, null)])
          assert.strictEqual(yield* status(use), 503)
      })
    )
  )
})
