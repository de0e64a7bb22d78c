/** A client of the loopback gateway, for the tests of images, and what the gateway answers it. */
import { Gateway, type ImageCall } from "@sluice/core"
import { Effect } from "effect"
import { type Behaviour, json, LoopbackGateway } from "./LoopbackGateway.ts"
import { clientOf } from "./tasksClient.ts"

export const Client = clientOf(100_000)

export const images = Effect.map(Gateway, (gateway) => gateway.images)
export const untyped = (fields: object) => ({ model: "m", prompt: "p", ...fields }) as ImageCall
export const generate = (fields: object = {}) =>
  Effect.flatMap(images, ({ generate }) => generate(untyped(fields)))

/** What the one request of a behaviour carried. */
export const sent = Effect.map(
  LoopbackGateway,
  ({ seen }) => seen[0]?.body as unknown as Record<string, unknown>
)

export const answering =
  (body: unknown, status = 200): Behaviour =>
  (_, response) =>
    json(response, body, status)

/** Answers a creation with a task, then a look with each of these, the last one for ever. */
export const task =
  (...looks: ReadonlyArray<object>): Behaviour =>
  ({ method }, response, nth) =>
    method === "POST"
      ? json(response, { id: "t/1" })
      : json(response, looks[Math.min(Math.max(nth - 1, 0), looks.length - 1)])

export const sendBytes =
  (bytes: Uint8Array, type = "image/png"): Behaviour =>
  (_, response) => {
    response.writeHead(200, { "content-type": type, "content-length": bytes.length })
    response.end(bytes)
  }

export const url = "https://images.example.com/1.png"
export const link = { url }
