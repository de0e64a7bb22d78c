/** Replacing the name of the model in bodies and events. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { incomingBody, outgoingBody, withModel } from "../../apps/demo-server/src/routing/ModelName.ts"
import { mapEventData } from "../../apps/demo-server/src/wire/ServerSentEvents.ts"

/** The caller's name in a stream of events. */
const incomingEvents = () => mapEventData((data) => incomingBody(data, "alias", "real"))

const Key = Schema.Union([Schema.String, Schema.Literals(["model", "mod\\el", 'model"', "{model"])])

describe("replacing the model's name", () => {
  it("does not change numbers, order, spaces or unknown fields", () => {
    const body = (model: string) =>
      `{ "n": 12345678901234567890.10,\n "model" :\t${JSON.stringify(model)}, "x":{"model":"inner","y":["model","z"]}, "s":"\\"model\\":\\"no\\"" }`
    assert.strictEqual(withModel(body("alias"), "real"), body("real"))
    assert.strictEqual(outgoingBody(body("alias"), "alias", "real"), body("real"))
    assert.strictEqual(outgoingBody(body("same"), "same", "same"), body("same"))
  })

  it("replaces every occurrence if the body has `model` several times", () => {
    const twice = String.raw`{"model":"cheap","\u006dodel":"dear","a":1}`
    assert.strictEqual(
      outgoingBody(twice, "dear", "dear"),
      String.raw`{"model":"dear","\u006dodel":"dear","a":1}`
    )
    assert.strictEqual(
      outgoingBody('{"model":"cheap","model":"dear"}', "dear", "dear"),
      '{"model":"dear","model":"dear"}'
    )
  })

  it("restores the alias only in place of the upstream's name", () => {
    assert.strictEqual(incomingBody('{"model":"real","x":1.0}', "alias", "real"), '{"model":"alias","x":1.0}')
    assert.strictEqual(
      incomingBody('{"model":"real-2026","x":1.0}', "alias", "real"),
      '{"model":"real-2026","x":1.0}'
    )
  })

  it.prop(
    "changes nothing but the name in any object",
    [
      Schema.Array(Schema.Tuple([Key, Schema.Json])),
      Schema.String,
      Schema.String,
      Schema.Literals(["", " ", "\t"])
    ],
    ([others, name, next, space]) => {
      const text = (model: string) =>
        JSON.stringify({ ...Object.fromEntries(others), model }, undefined, space)
      assert.strictEqual(withModel(text(name), next), text(next))
    }
  )

  it("replaces the name in events, however they are split", () => {
    const text = (model: string) =>
      `: hello\r\n\r\ndata: {"model":"${model}","choices":[{"delta":{"content":"é漢"}}]}\n\ndata:{"model":"${model}"}\n\ndata: [DONE]`
    const bytes = new TextEncoder().encode(text("real"))
    for (let size = 1; size <= bytes.length; size++) {
      const events = incomingEvents()
      const out: Array<Uint8Array> = []
      for (let at = 0; at < bytes.length; at += size) out.push(events.push(bytes.slice(at, at + size)))
      out.push(events.end())
      assert.strictEqual(Buffer.concat(out).toString(), text("alias"))
    }
  })

  it("passes a line that is too long unchanged", () => {
    const events = incomingEvents()
    const long = `data: {"model":"real","x":"${"x".repeat(2 ** 20)}`
    assert.strictEqual(Buffer.from(events.push(new TextEncoder().encode(long))).toString(), long)
  })
})
