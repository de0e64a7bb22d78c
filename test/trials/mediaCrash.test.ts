/** A server that is killed after a vendor has started a task loses neither the task nor its charge. */
import { assert, it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { ErrorBody, Video } from "@sluice/core/contract"
import { makeDataUri } from "@sluice/core/media"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import { outOfBalance } from "../demo-server/Equation.ts"
import { sharedStore } from "../demo-server/SharedServers.ts"
import { onPostgres } from "../demo-server/Stores.ts"
import { addressIn, dataFolder, keyIn, startProcess } from "../demo-server/Process.ts"
import { png, RED } from "../laws/Pictures.ts"
import { startRunway } from "../providers/fakes/runway.ts"
import { vendorEnv } from "../providers/MediaServer.ts"

/** The price of 8 seconds. */
const COST = 80

const onDatabase = <A>(data: string, use: (database: DatabaseSync) => A) =>
  Effect.sync(() => {
    const database = new DatabaseSync(join(data, "accounts.db"))
    const result = use(database)
    database.close()
    return result
  })

/** Blocks all writes after that of the task, as if the server was killed there. */
const BLOCK = `
  CREATE TRIGGER block_assign BEFORE UPDATE OF task ON charges BEGIN SELECT RAISE(ABORT, 'blocked'); END;
  CREATE TRIGGER block_answer BEFORE UPDATE OF answer ON idempotency BEGIN SELECT RAISE(ABORT, 'blocked'); END;`
const UNBLOCK = "DROP TRIGGER block_assign; DROP TRIGGER block_answer;"

const chargeIn = (database: DatabaseSync) =>
  database.prepare("SELECT state, task, cost FROM charges WHERE operation = 'videos'").get()

const start = Effect.gen(function* () {
  const fake = yield* startRunway
  const data = yield* dataFolder
  const env = {
    ...(yield* vendorEnv({ dialect: "runway", url: fake.url, key: "sk-runway-0123456789", video: "gen4.5" })),
    SLUICE_DATA: data
  }
  const first = yield* startProcess(env)
  const key = keyIn(yield* first.printed("The API key is for"))
  yield* first.signal("SIGTERM")
  yield* first.ended
  return { fake, data, env, key }
})

const create = (url: URL, key: string) =>
  Effect.promise(async () => {
    const response = await fetch(new URL("/v1/videos", url), {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        "idempotency-key": "a-barge"
      },
      body: JSON.stringify({ model: "animator", prompt: "a barge", seconds: "8" })
    })
    return { status: response.status, body: (await response.json()) as unknown }
  })

it.live("a task that a vendor has started is found again, charged once, and never created twice", () =>
  Effect.gen(function* () {
    const { data, env, fake, key } = yield* start
    yield* onDatabase(data, (database) => database.exec(BLOCK))
    const second = yield* startProcess(env)
    const { body } = yield* create(addressIn(yield* second.printed("Reference")), key)
    const { id } = Schema.decodeUnknownSync(Video)(body)
    yield* second.signal("SIGKILL")
    yield* second.ended
    const left = yield* onDatabase(data, (database) => (database.exec(UNBLOCK), chargeIn(database)))
    assert.deepInclude(left, { state: "sent", task: null })

    const third = yield* startProcess(env)
    const url = addressIn(yield* third.printed("Reference"))
    const again = yield* create(url, key)
    assert.strictEqual(again.status, 200)
    assert.strictEqual(Schema.decodeUnknownSync(Video)(again.body).id, id)
    assert.lengthOf(fake.creations(), 1)
    const status = Effect.promise(async () => {
      const response = await fetch(new URL(`/v1/videos/${id}`, url), {
        headers: { authorization: `Bearer ${key}` }
      })
      return Schema.decodeUnknownSync(Video)(await response.json()).status
    })
    yield* Effect.repeat(status, {
      schedule: Schedule.spaced("5 millis"),
      until: (status) => status === "completed"
    })
    yield* third.signal("SIGTERM")
    yield* third.ended
    const ended = yield* onDatabase(data, chargeIn)
    assert.deepInclude(ended, { state: "settled", task: id, cost: COST })
  }).pipe(Effect.scoped)
)

it.live("a creation that a vendor has not answered is refunded, and not repeated on a guess", () =>
  Effect.gen(function* () {
    const { data, env, fake, key } = yield* start
    fake.hold()
    const second = yield* startProcess(env)
    const url = addressIn(yield* second.printed("Reference"))
    yield* Effect.forkScoped(Effect.ignoreCause(create(url, key)))
    yield* Effect.repeat(
      Effect.sync(() => fake.creations().length),
      { schedule: Schedule.spaced("5 millis"), until: (creations) => creations === 1 }
    )
    yield* second.signal("SIGKILL")
    yield* second.ended

    const third = yield* startProcess(env)
    const again = yield* create(addressIn(yield* third.printed("Reference")), key)
    assert.strictEqual(again.status, 502)
    assert.strictEqual(Schema.decodeUnknownSync(ErrorBody)(again.body).error.code, "idempotency_in_doubt")
    assert.lengthOf(fake.creations(), 1)
    yield* third.signal("SIGTERM")
    yield* third.ended
    assert.deepInclude(yield* onDatabase(data, chargeIn), { state: "refunded", cost: 0 })
  }).pipe(Effect.scoped)
)

onPostgres((_, store) => {
  it.live(
    "a video of a killed server is made and charged once by another server",
    () =>
      Effect.gen(function* () {
        const shared = yield* sharedStore(store)
        const server = Effect.flatMap(dataFolder, (data) => startProcess({ ...shared, SLUICE_DATA: data }))
        const first = yield* server
        // Only the server that is started first prints the key.
        const printed = yield* first.printed("Reference")
        const authorization = `Bearer ${keyIn(printed)}`
        const other = addressIn(yield* Effect.flatMap(server, (second) => second.printed("Reference")))
        const video = (address: URL, path = "", init: RequestInit = {}) =>
          Effect.promise(async () => {
            const headers = { authorization, "content-type": "application/json" }
            return await fetch(new URL(`/v1/videos${path}`, address), { ...init, headers })
          })
        const decoded = (response: Response) =>
          Effect.promise(async () => {
            const text = await response.text()
            assert.strictEqual(response.status, 200, text)
            return Schema.decodeUnknownSync(Video)(JSON.parse(text))
          })
        const picture = { input_reference: makeDataUri("image/png", png(RED)), size: "640x360" }
        const body = JSON.stringify({
          model: "sluice-video-from-image",
          prompt: "a barge",
          seconds: "4",
          ...picture
        })
        const ids: Array<string> = []
        for (let n = 0; n < 2; n++)
          ids.push(
            (yield* Effect.flatMap(video(addressIn(printed), "", { method: "POST", body }), decoded)).id
          )
        yield* first.signal("SIGKILL")
        yield* first.ended
        const left = yield* Effect.flatMap(video(other, `/${ids.at(-1)}`), decoded)
        assert.notStrictEqual(left.status, "completed")
        // The lease of a killed server ends after 30 s.
        for (const id of ids)
          yield* Effect.repeat(Effect.flatMap(video(other, `/${id}`), decoded), {
            schedule: Schedule.spaced("500 millis"),
            until: ({ status }) => status === "completed"
          }).pipe(Effect.timeout("90 seconds"))
        for (const id of ids) assert.strictEqual((yield* video(other, `/${id}/content`)).status, 200)
        const url = Redacted.make(shared["SLUICE_DATABASE_URL"] ?? "")
        const sql = Context.get(yield* Layer.build(Postgres.layer(url)), SqlClient.SqlClient)
        const states = yield* sql<{
          readonly state: string
        }>`SELECT state FROM charges WHERE operation = 'videos'`
        assert.deepStrictEqual(
          states.map(({ state }) => state),
          ids.map(() => "settled")
        )
        assert.deepStrictEqual(yield* Effect.provideService(outOfBalance, SqlClient.SqlClient, sql), [])
      }).pipe(Effect.scoped),
    // The lease of 30 s, and two films on threads of low priority beside other trials.
    240_000
  )
})
