import { Embedder } from "@sluice/core"
import { openPromiseLibrary, type PromiseItem } from "@sluice/rag/promise"
import { Effect, Layer } from "effect"
import Fastify from "fastify"
import { Hono } from "hono"
import { streamSSE } from "hono/streaming"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, expect, it } from "vitest"
import { DIMENSION, modelsLayer } from "./Models.ts"

let folder = ""
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "sluice-promise-"))))
afterEach(() => rm(folder, { recursive: true, force: true }))

const QUESTION = "When does the ferry leave the quay?"
const ferry: PromiseItem = {
  id: "ferry",
  text: "The ferry leaves the quay at noon.",
  url: "https://example.com/ferry"
}

/** The models, with an embedder of questions that never answers, and whether its call was cancelled. */
const stuck = () => {
  const state = { asked: Promise.withResolvers<void>(), cancelled: false }
  const embedder = Layer.succeed(
    Embedder,
    Embedder.of({
      model: { id: "stuck", kind: "lexical", free: true },
      dimension: Effect.succeed(DIMENSION),
      embed: () =>
        Effect.suspend(() => {
          state.asked.resolve()
          return Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (state.cancelled = true)))
        })
    })
  )
  return { state, models: Layer.merge(modelsLayer, embedder) }
}

it("answers, lists and removes", async () => {
  await using library = await openPromiseLibrary(folder, { models: modelsLayer })
  expect(await library.upsert([ferry])).toMatchObject({ added: 1 })
  const { citations } = await library.ask(QUESTION)
  expect(citations[0]).toMatchObject({ document: "ferry", url: "https://example.com/ferry" })
  const types: Array<string> = []
  for await (const event of library.askEvents(QUESTION)) types.push(event.type)
  expect([types.includes("sentence"), types.at(-1)]).toEqual([true, "answer"])
  expect((await library.list({ limit: 1 })).documents.map(({ path }) => path)).toEqual(["ferry"])
  await library.remove("ferry")
  await expect(library.info("ferry")).rejects.toMatchObject({ _tag: "RagError", reason: "NotFound" })
})

it("says which argument is wrong", async () => {
  const models = modelsLayer
  for (const options of [undefined, {}, { models: 7 }])
    await expect(openPromiseLibrary(folder, options as never)).rejects.toThrow("`models` is missing")
  await expect(openPromiseLibrary(folder, { models, recal: 3 } as never)).rejects.toThrow('"recal" is not an')
  await using library = await openPromiseLibrary(folder, { models })
  const { ask, askEvents, list, sync, upsert } = library
  const any = (value: unknown) => value as never
  for (const [call, message] of [
    [() => ask(any(undefined)), "The question is undefined; expected a text."],
    [() => askEvents(any(7)).next(), "The question is 7; expected a text."],
    [() => ask(QUESTION, any(7)), "The options are 7; expected an object."],
    [() => ask(QUESTION, any({ verfy: "off" })), '"verfy" is not an option. Options: context, verify, '],
    [() => ask(QUESTION, { history: any([7]) }), "history is [7]; expected an array of turns"],
    [() => ask(QUESTION, { standalone: any(7) }), "standalone is 7; expected a text."],
    [() => ask(QUESTION, { signal: any(7) }), "`signal` is not an AbortSignal."],
    [() => list(any({ limt: 1 })), '"limt" is not an option. Options: filter, after, limit.'],
    [() => list({ limit: 0 }), "limit is 0; expected a whole number, 1 or more."],
    [() => upsert(any(undefined)), "The documents are undefined; expected a stream, an array"],
    [() => sync("db", any("x")), 'The documents are "x"; expected a stream, an array']
  ] as const)
    await expect(call()).rejects.toMatchObject({
      _tag: "RagError",
      reason: "Malformed",
      message: expect.stringContaining(message)
    })
  const { failed } = await library.upsert(any([7, null, ferry]))
  expect(failed.map(({ error }) => error.message.slice(0, 29))).toEqual([
    "7 is not a valid identifier. ",
    "null is not a valid identifie"
  ])
})

it("refuses calls when it is closed", async () => {
  const library = await openPromiseLibrary(folder, { models: modelsLayer })
  await library.close()
  const closed = { _tag: "RagError", message: expect.stringContaining("is closed") }
  await expect(library.ask(QUESTION)).rejects.toMatchObject(closed)
  await expect(library.askEvents(QUESTION).next()).rejects.toMatchObject(closed)
})

it("syncs from an async iterable, whose own error rejects the call", async () => {
  await using library = await openPromiseLibrary(folder, { models: modelsLayer })
  const reads: Array<string> = []
  const item = (id: string): PromiseItem => ({
    id,
    version: "1",
    read: () => {
      reads.push(id)
      return Promise.resolve({ text: `The text of ${id}.` })
    }
  })
  await library.sync("db", [item("a"), item("b")])
  const down = new Error("the database is down")
  async function* failing() {
    yield await Promise.resolve(item("b"))
    throw down
  }
  await expect(library.sync("db", failing())).rejects.toBe(down)
  expect(await library.sync("db", [item("b")])).toMatchObject({ unchanged: 1, removed: 1 })
  expect(reads).toEqual(["a", "b"])
})

it("an aborted call is rejected with the signal's reason, and its model call is cancelled", async () => {
  for (const use of ["ask", "askEvents"] as const) {
    const { models, state } = stuck()
    await using library = await openPromiseLibrary(join(folder, use), { models })
    const leaving = new AbortController()
    const asking =
      use === "ask"
        ? library.ask(QUESTION, { signal: leaving.signal })
        : library.askEvents(QUESTION, { signal: leaving.signal }).next()
    const rejected = Promise.allSettled([asking])
    await state.asked.promise
    leaving.abort(new Error("gone"))
    expect(await rejected).toMatchObject([{ status: "rejected", reason: { message: "gone" } }])
    expect(state.cancelled).toBe(true)
    await expect(library.ask(QUESTION, { signal: leaving.signal })).rejects.toThrow("gone")
  }
})

it("serves Fastify and Hono", async () => {
  await using library = await openPromiseLibrary(folder, { models: modelsLayer })
  await library.upsert([ferry])
  const fastify = Fastify()
  fastify.post<{ Body: { question: string } }>("/ask", (request) => library.ask(request.body.question))
  const answered = await fastify.inject({ method: "POST", url: "/ask", payload: { question: QUESTION } })
  expect(answered.json().citations[0]).toMatchObject({ document: "ferry" })
  await fastify.close()
  const hono = new Hono().get("/ask", (context) =>
    streamSSE(context, async (stream) => {
      for await (const event of library.askEvents(context.req.query("question") ?? "", {
        signal: context.req.raw.signal
      }))
        await stream.writeSSE({ event: event.type, data: JSON.stringify(event) })
    })
  )
  const streamed = await hono.request(`/ask?question=${encodeURIComponent(QUESTION)}`)
  expect(await streamed.text()).toMatch(/event: sentence[\s\S]*event: answer/)
})
