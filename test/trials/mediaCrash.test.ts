/** A server that is killed after a vendor has started a task loses neither the task nor its charge. */
import { assert, it } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { ErrorBody, Video } from "@sluice/core/contract"
import { addressIn, dataFolder, keyIn, startProcess } from "../demo-server/Process.ts"
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
