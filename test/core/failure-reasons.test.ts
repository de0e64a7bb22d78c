import { assert, describe, layer } from "@effect/vitest"
import type { Gateway, GatewayError } from "@sluice/core"
import { Effect } from "effect"
import { behaving, chat, chatStream, Clients, embedTwo, reasonOf, rerankThree } from "./Clients.ts"
import { type Behaviour, events, json, openAi, refuse, scores, vectors } from "./LoopbackGateway.ts"

layer(Clients)("the client", (it) => {
  describe("refusals have their reasons", () => {
    const cases: ReadonlyArray<readonly [string, Behaviour, object]> = [
      [
        "400",
        refuse(400, openAi({ param: "input", code: "x" })),
        { _tag: "InvalidRequest", param: "input", code: "x" }
      ],
      ["401", refuse(401, openAi({})), { _tag: "Unauthorized" }],
      ["402", refuse(402, openAi({})), { _tag: "InsufficientQuota" }],
      ["403", refuse(403, openAi({})), { _tag: "Forbidden" }],
      [
        "403 for the money",
        refuse(403, openAi({ code: "insufficient_user_quota" })),
        { _tag: "InsufficientQuota" }
      ],
      [
        "429 for the money",
        refuse(429, openAi({ type: "insufficient_quota" })),
        { _tag: "InsufficientQuota" }
      ],
      [
        "404",
        refuse(404, openAi({ code: "model_not_found" })),
        { _tag: "NotFound", code: "model_not_found" }
      ],
      [
        "503 for no model",
        refuse(503, openAi({ code: "model_not_found" })),
        { _tag: "NotFound", isRetryable: false }
      ],
      ["429 without a body", refuse(429, ""), { _tag: "RateLimited", isRetryable: true }],
      [
        "a final 500",
        refuse(500, openAi({}), { "x-should-retry": "false" }),
        { isRetryable: false, status: 500 }
      ],
      [
        "a lock's 409",
        refuse(409, openAi({}), { "x-should-retry": "true" }),
        { isRetryable: true, status: 409 }
      ],
      [
        "HTML",
        refuse(502, "<html><h1>Bad gateway</h1>", { "content-type": "text/html" }),
        { _tag: "ServerFailure", status: 502 }
      ],
      ["open tags alone", refuse(500, "<".repeat(1_000_000)), { _tag: "ServerFailure", status: 500 }],
      ["a redirect", refuse(302, "", { location: "http://127.0.0.1:1/" }), { _tag: "InvalidRequest" }],
      ["a plain message", refuse(422, { message: "no" }), { _tag: "InvalidRequest", message: "no" }],
      ["a plain error", refuse(422, { error: "no" }), { _tag: "InvalidRequest", message: "no" }],
      [
        "fields of other types",
        refuse(400, { error: { message: "no", param: 3, code: { a: 1 } } }),
        { _tag: "InvalidRequest", message: "no" }
      ],
      [
        "a list of details",
        refuse(422, { detail: [{ loc: ["body", "input"], msg: "too long" }] }),
        { _tag: "InvalidRequest", message: "too long", param: "input" }
      ],
      [
        "code, message and data",
        refuse(400, { code: "invalid_size", message: "no such size", data: null }),
        { _tag: "InvalidRequest", message: "no such size", code: "invalid_size" }
      ],
      [
        "the envelope of /api",
        refuse(403, { success: false, message: "no permission", data: null }),
        { _tag: "Forbidden", message: "no permission" }
      ],
      [
        "a list of errors",
        refuse(400, { success: false, errors: [{ code: 1003, message: "bad" }] }),
        { _tag: "InvalidRequest", message: "bad", code: "1003" }
      ],
      ["an error in a list", refuse(400, [{ error: { message: "bad" } }]), { message: "bad" }],
      ["a list of nothing", refuse(400, []), { _tag: "InvalidRequest" }],
      ["nothing", refuse(500, ""), { _tag: "ServerFailure", message: "Status 500 without a message." }],
      [
        "an empty message",
        refuse(400, openAi({ message: "" })),
        { _tag: "InvalidRequest", param: undefined }
      ],
      [
        "status 200",
        refuse(200, openAi({ code: "insufficient_user_quota" })),
        { _tag: "InsufficientQuota", message: "no" }
      ],
      ["status 200 without a code", refuse(200, { success: false }), { _tag: "ServerFailure" }],
      [
        "a compressed body",
        refuse(400, "\u001f", { "content-encoding": "gzip" }),
        { message: "Status 400, with a compressed body, which the client did not accept." }
      ]
    ]
    for (const [name, behaviour, expected] of cases) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const reason = yield* behaving(behaviour, reasonOf(chat))
          for (const [key, value] of Object.entries(expected))
            assert.strictEqual(Reflect.get(reason, key), value, key)
          assert.isAbove(reason.message.length, 0)
        })
      )
    }
  })

  describe("invalid responses are InvalidResponse", () => {
    const cases: ReadonlyArray<readonly [string, Behaviour, Effect.Effect<unknown, GatewayError, Gateway>]> =
      [
        ["too few vectors", vectors([0, [1, 0]]), embedTwo],
        ["a vector too many", vectors([0, [1]], [1, [1]], [2, [1]]), embedTwo],
        ["two of one index", vectors([1, [1]], [1, [1]]), embedTwo],
        ["an index out of range", vectors([0, [1]], [2, [1]]), embedTwo],
        ["a negative index", vectors([0, [1]], [-1, [1]]), embedTwo],
        ["unequal dimensions", vectors([0, [1, 2]], [1, [1]]), embedTwo],
        ["an empty vector", vectors([0, []], [1, []]), embedTwo],
        ["null among numbers", vectors([0, [1, null]], [1, [1, 2]]), embedTwo],
        ["a number beyond float32", vectors([0, [1e300]], [1, [1]]), embedTwo],
        ["base64 NaN", vectors([0, "AADAfw=="], [1, "AACAPw=="]), embedTwo],
        ["base64 of three bytes", vectors([0, "AACA"], [1, "AACA"]), embedTwo],
        ["no base64", vectors([0, "****"], [1, "****"]), embedTwo],
        ["two scores of one document", scores([0, 1], [0, 1], [1, 0]), rerankThree()],
        ["a score of no document", scores([0, 1], [1, 1], [3, 1]), rerankThree()],
        ["a score that is text", scores([0, "NaN"], [1, 1], [2, 1]), rerankThree()],
        ["fewer scores than asked for", scores([0, 1]), rerankThree(2)],
        ["an empty body", (_, response) => json(response, ""), chat],
        ["HTML", (_, response) => response.end("<html>"), chat],
        ["HTML labelled as JSON", (_, response) => json(response, "<html>"), chat],
        ["JSON cut short", (_, response) => json(response, '{"choices":[{"mess'), chat],
        ["no choices", (_, response) => json(response, { choices: [] }), chat],
        ["no text", (_, response) => json(response, { choices: [{ message: { content: null } }] }), chat],
        ["more bytes than allowed", (_, response) => json(response, `"${"x".repeat(2_000_000)}"`), chat],
        ["no HTTP", (_, response) => response.socket?.end("SSH-2.0-OpenSSH_9.9\r\n"), chat],
        ["events that are no chunks", (_, response) => events(response, [{ a: 1 }]), chatStream]
      ]
    for (const [name, behaviour, effect] of cases) {
      it.effect(name, () =>
        Effect.gen(function* () {
          const reason = yield* behaving(behaviour, reasonOf(effect))
          assert.strictEqual(reason._tag, "InvalidResponse", reason.message)
        })
      )
    }
  })
})
