/** Schemas of `/api` responses about users and keys, and calls with a new secret. */
import { Effect, Schema } from "effect"
import type { TestServer } from "./TestServer.ts"

export const bearer = (secret: string) =>
  ({ as: "none", headers: { authorization: `Bearer ${secret}` } }) as const

export const MadeKey = Schema.Struct({ data: Schema.Struct({ id: Schema.Int, key: Schema.String }) })
export const MadeUser = Schema.Struct({
  data: Schema.Struct({ id: Schema.String, access_token: Schema.String })
})
export const Self = Schema.Struct({ data: Schema.Struct({ quota: Schema.Int }) })

/** The owner's balance. */
export const quotaOf = ({ json }: Pick<TestServer["Service"], "json">) =>
  Effect.map(json(Self, "/api/user/self", { as: "token" }), ({ data }) => data.quota)
