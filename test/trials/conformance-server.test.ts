/** The server passes the conformance checker. */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, systemAccessToken } from "@sluice/core"
import { Effect } from "effect"
import { startServer } from "../demo-server/TestServer.ts"
import { check, having } from "../conformance/Checking.ts"
import { IMAGE, othersOf } from "../conformance/imageGroups.ts"

describe("the server", () => {
  it.live.each(["I2", "I3", "I4", "I5"] as const)("passes every rule of image group %s", (group) =>
    Effect.gen(function* () {
      const { secrets, url } = yield* startServer()
      // A chat's check sends an image of 20 MB. It is checked below.
      const models = { image: `sluice-image-${group.toLowerCase()}`, video: "none", chat: "none" }
      const only = { paid: true, groups: { image: group }, models, accessToken: undefined }
      const report = yield* check(url, { ...only, apiKey: apiKey(secrets.apiKey) })
      const rules = report.calls.find(({ call }) => call === IMAGE)?.rules ?? []
      const left = rules.filter(({ verdict }) => verdict !== "conforms").map(({ rule }) => `${IMAGE} ${rule}`)
      assert.sameMembers(left, [...othersOf(group), `${IMAGE} otherCredential`])
    }).pipe(Effect.scoped)
  )

  it.live("passes every rule that applies", () =>
    Effect.gen(function* () {
      const { secrets, url } = yield* startServer()
      const report = yield* check(url, {
        paid: true,
        write: true,
        rotate: true,
        apiKey: apiKey(secrets.apiKey),
        accessToken: systemAccessToken(secrets.accessToken),
        // Faster than the first video model in the list.
        models: { video: "sluice-video-v-f" },
        groups: { image: "I1", video: "V-F" },
        pollInterval: "100 millis"
      })
      assert.deepStrictEqual(having(report, "fails"), [])
      assert.isTrue(report.conforms)
      // No video failed, and one key is not a page.
      const left = ["GET /v1/videos/{} error", "GET /api/token/ num"]
      assert.sameMembers(having(report, "skipped", "interface"), [...othersOf("I1"), ...left])
      assert.deepStrictEqual(report.models, {
        embedding: "sluice-lexical-1024",
        rerank: "sluice-lexical-rerank",
        chat: "sluice-ocr",
        image: "sluice-image-i1",
        twoStepImage: "sluice-image-i5-task",
        video: "sluice-video-v-f"
      })
    }).pipe(Effect.scoped)
  )
})
