/** `account.tokens` over HTTP. */
import { Effect, Stream } from "effect"
import type { HttpClient } from "effect/http"
import type { Tokens } from "../../gateway/Account.ts"
import type { Caller } from "../call/Caller.ts"
import { makeTokenCalls, TOKENS_PER_PAGE } from "./TokenCalls.ts"
import { createToken } from "./TokenCreation.ts"
import { listTokens } from "./TokenList.ts"
import { tokenOf } from "./TokenRecords.ts"
import { updateToken } from "./TokenUpdate.ts"

export const makeTokens = Effect.fnUntraced(function* (httpClient: HttpClient.HttpClient, caller: Caller) {
  const calls = yield* makeTokenCalls(httpClient, caller)

  const update = Effect.fn("Account.tokens.update")((...[id, changes]: Parameters<Tokens["update"]>) =>
    Effect.map(updateToken(calls, id, changes), tokenOf)
  )

  const tokens: Tokens = {
    list: Stream.map(listTokens(calls.page, TOKENS_PER_PAGE), tokenOf).pipe(
      Stream.withSpan("Account.tokens.list")
    ),
    get: Effect.fn("Account.tokens.get")((id) => Effect.map(calls.read(id), tokenOf)),
    create: Effect.fn("Account.tokens.create")((token) => createToken(calls, token)),
    update,
    rename: (id, name) => update(id, { name }),
    enable: (id) => update(id, { enabled: true }),
    disable: (id) => update(id, { enabled: false }),
    remove: Effect.fn("Account.tokens.remove")(calls.remove),
    search: Effect.fn("Account.tokens.search")((keyword) =>
      Effect.map(calls.search(keyword), (found) => found.map(tokenOf))
    )
  }
  return tokens
})
