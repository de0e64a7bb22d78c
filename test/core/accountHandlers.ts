/** An in-memory server of the contract's account group. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { apiKey, NotFound, type Quota, quota } from "@sluice/core"
import { Failure, GatewayApi, type TokenRecord } from "@sluice/core/contract"

const absent = Effect.fail(Failure.fromReason(new NotFound({ message: "no such token" })))

export const AccountHandlers = HttpApiBuilder.group(GatewayApi, "account", (handlers) => {
  const tokens = new Map<number, TokenRecord>()
  const found = (id: number) => {
    const token = tokens.get(id)
    return token === undefined ? absent : Effect.succeed(token)
  }
  return Effect.succeed(
    handlers
      .handle("user", () =>
        Effect.succeed({ data: { username: "ada", quota: quota(1), extra: { group: "vip" } } })
      )
      .handle("rotateAccessToken", () => Effect.succeed({ data: "sat-2" }))
      .handle("tokens", ({ query: { num = 10, p = 0 } }) =>
        Effect.succeed({ success: true as const, data: [...tokens.values()].slice(p * num, (p + 1) * num) })
      )
      .handle("createToken", ({ payload }) => {
        const id = tokens.size + 1
        const token = { ...payload, id, status: 1 }
        tokens.set(id, token)
        return Effect.succeed({ data: { ...token, key: apiKey(`sk-${id}`) } })
      })
      .handle("updateToken", ({ payload }) =>
        Effect.map(found(payload.id), (token) => {
          const { name = token.name, expired_time = token.expired_time, status = token.status } = payload
          const remain_quota: Quota = payload.remain_quota ?? token.remain_quota
          const subnet = payload.subnet ?? token.subnet
          tokens.set(token.id, { ...token, name, expired_time, status, remain_quota, subnet })
        })
      )
      .handle("searchTokens", ({ query: { keyword } }) =>
        Effect.succeed({ data: [...tokens.values()].filter(({ name }) => name.includes(keyword)) })
      )
      .handle("token", ({ params: { id } }) => Effect.map(found(id), (data) => ({ data })))
      .handle("removeToken", ({ params: { id } }) =>
        Effect.map(found(id), () => {
          tokens.delete(id)
        })
      )
  )
})
