/** Round trips of requests and tasks, and an MP4 file in chunks of any size. */
import { assert, describe, it } from "@effect/vitest"
import { videoExpiry, videoProgress } from "@sluice/core"
import { type Extra, VideoDeletion, VideoRequest, Video } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { makeMp4Reader } from "../../packages/core/src/client/media/Mp4.ts"
import { mp4 } from "./videosHandlers.ts"
import { jsonRoundTrip } from "./jsonRoundTrip.ts"

/** Encodes to JSON text and decodes it. */
const roundTrip = <S extends Schema.Top>(schema: S, value: S["Type"]) => {
  const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<S["Type"]>
  return Schema.decodeUnknownSync(codec)(jsonRoundTrip(Schema.encodeSync(codec)(value)))
}

const json: (value: unknown) => unknown = jsonRoundTrip

const Task = Schema.Struct({
  id: Schema.NonEmptyString,
  status: Schema.optionalKey(Schema.String),
  error: Schema.optionalKey(
    Schema.Union([Schema.String, Schema.Struct({ message: Schema.String, code: Schema.Int })])
  ),
  progress: Schema.optionalKey(Schema.Finite),
  created_at: Schema.optionalKey(Schema.Int),
  more: Schema.optionalKey(Schema.Record(Schema.String, Schema.NullOr(Schema.String)))
})

const Request = Schema.Struct({
  model: Schema.NonEmptyString,
  prompt: Schema.NonEmptyString,
  seconds: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{1,9}(\.\d{1,3})?$/))),
  size: Schema.optionalKey(Schema.NonEmptyString),
  input_reference: Schema.optionalKey(
    Schema.Union([Schema.NonEmptyString, Schema.Record(Schema.String, Schema.Json)])
  )
})
const Anything = Schema.Record(Schema.String, Schema.Json)

describe("the videos' schemas", () => {
  it.effect.prop("round-trip any request, with undeclared fields", [Request, Anything], ([asked, more]) =>
    Effect.sync(() => {
      const names = Object.keys(Request.fields)
      const others = Object.entries(more).filter(([name]) => !names.includes(name))
      const wire = json({ ...Object.fromEntries(others), ...asked })
      const codec = Schema.toCodecJson(VideoRequest)
      const request = Schema.decodeUnknownSync(codec)(wire)
      assert.strictEqual(Object.keys(request.extra ?? {}).length, others.length)
      assert.deepStrictEqual(json(Schema.encodeSync(codec)(request)), wire)
    })
  )

  it.effect.prop("round-trip any task, with undeclared fields", [Task], ([task]) =>
    Effect.sync(() => {
      const wire = json(task) as Record<string, never>
      const video = Schema.decodeUnknownSync(Schema.toCodecJson(Video))(wire)
      const { created_at, error, id, more, progress, status } = wire
      assert.deepStrictEqual([video.id, video.status, video.error], [id, status, error])
      assert.deepStrictEqual(video.extra, undeclared({ created_at, more, progress }))
      assert.deepStrictEqual(json(Schema.encodeSync(Schema.toCodecJson(Video))(video)), wire)
      assert.deepStrictEqual(roundTrip(Video, video), video)
    })
  )

  const undeclared = (fields: Record<string, unknown>) => {
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    return given.length === 0 ? undefined : Object.fromEntries(given)
  }

  it("encode seconds as text and decode null as absent", () => {
    const decode = Schema.decodeUnknownSync(Schema.toCodecJson(VideoRequest))
    const request = { model: "m", prompt: "p" }
    assert.deepStrictEqual(decode({ ...request, seconds: null, size: null, input_reference: null }), request)
    assert.deepStrictEqual(decode({ ...request, seconds: "5" }), { ...request, seconds: "5" })
    for (const seconds of [5, "1e9", "-1", "", "5s", true]) {
      assert.throws(() => decode({ ...request, seconds }), /seconds/)
    }
    const removed = Schema.decodeUnknownSync(Schema.toCodecJson(VideoDeletion))
    assert.deepStrictEqual(removed({ deleted: true, x: 1 }), { deleted: true, extra: { x: 1 } } as never)
  })

  it("give progress and expiry of the link if the gateway states them", () => {
    const of = (extra: Extra, status = "in_progress"): Video => ({ id: "v", status, extra }) as Video
    assert.deepStrictEqual(
      [{ progress: 40 }, { progress: "40%" }, { progress: 140 }, { progress: null }, {}].map((extra) =>
        videoProgress(of(extra))
      ),
      [0.4, 0.4, undefined, undefined, undefined]
    )
    assert.strictEqual(videoProgress(of({}, "completed")), 1)
    assert.strictEqual(videoExpiry(of({ expires_at: 1000, completed_at: 5 })), 1_000_000)
    assert.strictEqual(videoExpiry(of({ completed_at: 1000 })), 1_000_000 + 24 * 3_600_000)
    assert.isUndefined(videoExpiry(of({ expires_at: "soon" })))
  })
})

describe("an MP4 stream", () => {
  const file = mp4(20)

  it("is complete only at its end, in chunks of any size", () => {
    for (let size = 1; size <= file.length; size++) {
      const reader = makeMp4Reader()
      for (let at = 0; at < file.length; at += size) {
        assert.isFalse(reader.isComplete())
        assert.isTrue(reader.push(file.subarray(at, at + size)))
      }
      assert.isTrue(reader.isComplete())
    }
  })

  const box = (size: number, type: string, length: number, large?: bigint) => {
    const bytes = new Uint8Array(length)
    const view = new DataView(bytes.buffer)
    view.setUint32(0, size)
    bytes.set(new TextEncoder().encode(type), 4)
    if (large !== undefined) view.setBigUint64(8, large)
    return bytes
  }

  it("may have 64-bit box sizes, and a last box without a size", () => {
    const long = makeMp4Reader()
    assert.isTrue(long.push(box(8, "moov", 8)))
    assert.isTrue(long.push(box(1, "mdat", 24, 25n)))
    assert.isFalse(long.isComplete())
    assert.isTrue(long.push(new Uint8Array(1)))
    assert.isTrue(long.isComplete())
    assert.isTrue(long.push(box(0, "free", 100)))
    assert.isTrue(long.isComplete())
    const huge = makeMp4Reader()
    assert.isTrue(huge.push(box(8, "moov", 8)))
    assert.isTrue(huge.push(box(1, "mdat", 24, 2n ** 40n)))
    assert.isFalse(huge.isComplete())
  })

  it("is incomplete without media data or an index", () => {
    for (const [types, isComplete] of [
      [["ftyp"], false],
      [["ftyp", "moov"], false],
      [["ftyp", "mdat"], false],
      [["ftyp", "moov", "free"], false],
      [["ftyp", "mdat", "moov"], true],
      [["styp", "sidx", "moof", "mdat"], true]
    ] as const) {
      const reader = makeMp4Reader()
      for (const type of types) assert.isTrue(reader.push(box(16, type, 16)))
      assert.strictEqual(reader.isComplete(), isComplete, types.join(", "))
    }
  })

  it("is rejected if it starts otherwise or has a box smaller than its header", () => {
    for (const bytes of [
      new TextEncoder().encode("<!doctype html>"),
      box(4, "ftyp", 8),
      box(1, "moov", 16, 9n)
    ]) {
      assert.isFalse(makeMp4Reader().push(bytes))
    }
    const second = makeMp4Reader()
    assert.isTrue(second.push(box(8, "ftyp", 8)))
    assert.isTrue(second.push(box(8, "anyt", 8)))
    assert.isFalse(second.push(box(7, "mdat", 8)))
  })
})
