/** How gateways in use refuse calls: with status 200, with web pages, after a minute. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it, layer } from "@effect/vitest"
import { Account, apiKey, Gateway, type GatewayError, systemAccessToken } from "@sluice/core"
import { AccountClient, GatewayClient, RETRY } from "@sluice/core/client"
import { Effect, Exit, Layer, Redacted, Stream } from "effect"
import { TestGateway } from "@sluice/core/testing"
import { ask, behaving, chat, chatStream, Clients, embedTwo, once, rerankThree } from "./Clients.ts"
import { type Behaviour, json, LoopbackGateway, sends } from "./LoopbackGateway.ts"
import { runWithClock } from "./runWithClock.ts"

const page =
  (status: number, html: string): Behaviour =>
  (_, response) => {
    response.writeHead(status, { "content-type": "text/html" })
    response.end(html)
  }

const user = Effect.flatMap(Account, (account) => account.user)
const removeToken = Effect.flatMap(Account, ({ tokens }) => tokens.remove(7))
const create = Effect.flatMap(Gateway, ({ images }) => images.create({ model: "i", prompt: "p" }))
const createVideo = Effect.flatMap(Gateway, ({ videos }) => videos.create({ model: "v", prompt: "p" }))

layer(Clients)("status 200", (it) => {
  const refusals: ReadonlyArray<readonly [body: object, tag: string]> = [
    [{ message: "无权进行此操作，access token 无效" }, "Unauthorized"],
    [{ message: "无权进行此操作，未登录且未提供 access token" }, "Unauthorized"],
    [{ message: "Unauthorized, invalid access token" }, "Unauthorized"],
    [{ message: "no", code: "invalid_token" }, "Unauthorized"],
    [{ message: "no", code: 401 }, "Unauthorized"],
    [{ message: "无效的参数", data: null }, "InvalidRequest"],
    [{ message: "令牌名称过长" }, "InvalidRequest"],
    [{ message: "Invalid parameter: name" }, "InvalidRequest"],
    [{ message: "no", code: "invalid_request" }, "InvalidRequest"],
    [{ message: "无权进行此操作，权限不足" }, "Forbidden"],
    [{ message: "record not found" }, "NotFound"],
    [{}, "Forbidden"]
  ]
  it.effect("`success: false` is refused by its message and its code", () =>
    Effect.gen(function* () {
      for (const [body, tag] of refusals) {
        const { reason } = yield* behaving(sends({ success: false, ...body }), Effect.flip(user))
        assert.strictEqual(reason._tag, tag, JSON.stringify(body))
        const removal = yield* behaving(sends({ success: false, ...body }), Effect.flip(removeToken))
        assert.strictEqual(removal.reason._tag, tag, JSON.stringify(body))
      }
      const error = { error: { message: "record not found" } }
      const removal = yield* behaving(sends(error), Effect.flip(removeToken))
      assert.strictEqual(removal.reason._tag, "NotFound")
    })
  )

  it.effect("an error that repeats the request is read to its end", () =>
    Effect.gen(function* () {
      const detail = [{ input: "long ".repeat(40_000), loc: ["body", "max_tokens"], msg: "too many" }]
      for (const call of [Effect.asVoid(chat), Effect.asVoid(chatStream)]) {
        const { reason } = yield* behaving(sends({ detail }, 422), Effect.flip(call))
        assert.deepInclude(reason, { _tag: "InvalidRequest", param: "max_tokens" })
      }
    })
  )

  const errors: ReadonlyArray<readonly [error: unknown, tag: string]> = [
    ["You exceeded your current quota, please check your plan and billing details", "InsufficientQuota"],
    [{ message: "Insufficient balance" }, "InsufficientQuota"],
    [{ message: "用户额度不足" }, "InsufficientQuota"],
    [{ message: "Your request was rejected by our content policy" }, "ContentFiltered"],
    [{ message: "The prompt was flagged by moderation", type: "server_error" }, "ContentFiltered"],
    [{ message: "内容违规" }, "ContentFiltered"],
    [{ message: "no", code: "sensitive_words_detected" }, "ContentFiltered"],
    [{ message: "Too many requests" }, "RateLimited"],
    [{ message: "Something broke" }, "ServerFailure"]
  ]
  it.effect("an error without a code is read by its message, and not in doubt", () =>
    Effect.gen(function* () {
      for (const [error, tag] of errors) {
        for (const call of [chat, chatStream, embedTwo, create, createVideo]) {
          const failed = yield* behaving(
            sends({ error }),
            Effect.flip(call as Effect.Effect<unknown, GatewayError, Gateway>)
          )
          assert.strictEqual(failed.reason._tag, tag, JSON.stringify(error))
          if (tag !== "ServerFailure") assert.isUndefined(failed.outcomeUnknown)
          if (tag === "ContentFiltered" || tag === "InsufficientQuota") assert.isFalse(failed.isRetryable)
        }
      }
    })
  )
})

layer(Clients)("web pages", (it) => {
  const spa =
    "<!DOCTYPE html>\n<html><head><title>New API</title></head><body><div id=root></div></body></html>"

  it.effect("of a wrong base URL say so", () =>
    Effect.gen(function* () {
      for (const status of [200, 404, 405]) {
        for (const call of [chat, chatStream, embedTwo, create, user, removeToken]) {
          const effect = call as Effect.Effect<unknown, GatewayError, Gateway | Account>
          const { message } = yield* behaving(page(status, spa), Effect.flip(effect))
          assert.include(message, "The base URL seems wrong: it answered a web page (“New API”)")
        }
      }
    })
  )

  it.effect("of a firewall say that the gateway did not refuse", () =>
    Effect.gen(function* () {
      const waf = "<html><head><title>Attention Required! | Cloudflare</title></head><body>…</body></html>"
      const error = yield* behaving(page(403, waf), Effect.flip(chat))
      assert.strictEqual(error.reason._tag, "Forbidden")
      assert.match(error.message, /A firewall or proxy .* \(“Attention Required! \| Cloudflare”\)/)
      assert.notInclude(error.message, "Use a credential")
    })
  )
})

layer(Layer.provideMerge(NodeFileSystem.layer, Clients))("headers of the options", (it) => {
  it.effect("are in every request to the gateway, and in none to another host", () =>
    Effect.gen(function* () {
      const { seen, url } = yield* LoopbackGateway
      const secret = "group-secret-0123456789"
      const options = {
        baseUrl: url,
        ...once,
        headers: { "New-Api-User": "7", "x-group": Redacted.make(secret) }
      }
      const clients = Layer.merge(
        GatewayClient.layer({ ...options, apiKey: apiKey("sk-one") }),
        AccountClient.layer({ ...options, accessToken: systemAccessToken("sat-1") })
      )
      const other = url.replace("127.0.0.1", "localhost")
      const calls = Effect.gen(function* () {
        const { images, models, videos } = yield* Gateway
        const all: ReadonlyArray<Effect.Effect<unknown, GatewayError, Gateway | Account>> = [
          chat,
          chatStream,
          embedTwo,
          rerankThree(),
          models,
          user,
          create,
          createVideo,
          videos.get("v"),
          videos.remove("v"),
          Stream.runDrain(videos.content("v")),
          images.load({ url: `${url}/i.png` })
        ]
        for (const call of all) yield* Effect.ignore(call)
        const own = seen.map(({ headers }) => [headers["new-api-user"], headers["x-group"]])
        assert.isAtLeast(own.length, all.length)
        for (const headers of own) assert.deepStrictEqual(headers, ["7", secret])
        yield* Effect.ignore(images.load({ url: `${other}/i.png` }))
        assert.isUndefined(seen.at(-1)?.headers["new-api-user"])
        return yield* Effect.flip(chat)
      }).pipe(Effect.provide(clients))
      const { message } = yield* behaving(
        (_, response) => json(response, { error: { message: secret } }, 400),
        calls
      )
      assert.include(message, "<redacted>")
    })
  )
})

describe("slow answers", () => {
  /** A gateway that answers after these seconds. */
  const run = (seconds: number, call: Effect.Effect<unknown, GatewayError, Gateway>, body: unknown) =>
    Effect.gen(function* () {
      const { requests } = yield* TestGateway
      return { ...(yield* runWithClock(call)), attempts: requests.length }
    }).pipe(
      Effect.provide(
        TestGateway.layer({ retry: RETRY, latency: `${seconds} seconds`, respond: () => Response.json(body) })
      )
    )

  const answer = { choices: [{ message: { content: "late" }, finish_reason: "stop" }] }
  const image = { data: [{ url: "https://i.example/1.png" }] }

  it.effect("of chat and images are awaited for ten minutes", () =>
    Effect.gen(function* () {
      const stream = Gateway.use((gateway) => Stream.runCollect(gateway.chatStream(ask)))
      for (const call of [chat, stream, create]) {
        const { attempts, exit } = yield* run(590, call, call === create ? image : answer)
        assert.deepStrictEqual([Exit.isSuccess(exit), attempts], [true, 1])
      }
    })
  )

  it.effect("of paid calls are not requested again after a time-out", () =>
    Effect.gen(function* () {
      for (const call of [chat, create, createVideo, embedTwo, rerankThree()]) {
        const { attempts, exit, seconds } = yield* run(3600, call, {})
        const { reason } = yield* Effect.flip(exit)
        assert.deepStrictEqual([reason._tag, attempts], ["TimedOut", 1])
        if (call === chat || call === create) assert.strictEqual(seconds, 600)
      }
      const models = Gateway.use((gateway) => gateway.models)
      assert.isAbove((yield* run(3600, models, {})).attempts, 1)
    })
  )
})
