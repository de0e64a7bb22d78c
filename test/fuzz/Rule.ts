/** A rule of the interface as a table of accepted and rejected bodies, sent as raw HTTP. */
import { assert, type Vitest } from "@effect/vitest"
import { ErrorBody } from "@sluice/core/contract"
import { Effect, Schema } from "effect"
import { type CallOptions, TestServer } from "../demo-server/TestServer.ts"

export type Body = Readonly<Record<string, unknown>>

export interface Rule {
  /** The rule as the interface states it. */
  readonly rule: string
  readonly takes?: ReadonlyArray<Body>
  /** The field that the error must name, and the body that causes it. */
  readonly refuses?: ReadonlyArray<readonly [param: string, body: Body]>
}

/** How the bodies of a table are sent and checked. */
export interface Sending {
  readonly path: string
  /** Default fields of every body; `undefined` in a body leaves a field out. */
  readonly base: Body
  readonly options?: CallOptions
  /** Encodes a body; JSON by default. */
  readonly send?: (body: Body) => CallOptions
  /** Runs after an accepted request, for example to delete what it created. */
  readonly after?: (json: unknown) => Effect.Effect<unknown, never, TestServer>
}

/** Form fields: texts as they are, other values as JSON. */
export const asForm = (body: Body): CallOptions => {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) {
    const values: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
    for (const each of values) form.append(name, typeof each === "string" ? each : JSON.stringify(each))
  }
  return { body: form }
}

const without = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => value !== undefined))

/** Runs one test for each rule. */
export const checkRules = (
  it: Vitest.MethodsNonLive<TestServer>,
  rules: ReadonlyArray<Rule>,
  { after, base, options, path, send = (json) => ({ json }) }: Sending
): void => {
  const call = Effect.fnUntraced(function* (body: Body) {
    const { call } = yield* TestServer
    const response = yield* call(path, { ...options, ...send(without({ ...base, ...body })) })
    return { status: response.status, json: yield* Effect.promise(() => response.json() as Promise<unknown>) }
  })
  const shown = (body: Body) => JSON.stringify(body).slice(0, 200)
  for (const { refuses = [], rule, takes = [] } of rules) {
    it.effect(rule, () =>
      Effect.gen(function* () {
        for (const body of takes) {
          const { json, status } = yield* call(body)
          assert.strictEqual(status, 200, `${shown(body)}: ${JSON.stringify(json).slice(0, 300)}`)
          if (after !== undefined) yield* after(json)
        }
        for (const [param, body] of refuses) {
          const { json, status } = yield* call(body)
          const { error } = Schema.decodeUnknownSync(ErrorBody)(json)
          assert.deepStrictEqual([status, error.param], [400, param], `${shown(body)}: ${error.message}`)
        }
      })
    )
  }
}
