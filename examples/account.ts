/**
 * Shows the balance, creates a key that may spend two dollars within a week, disables it, and lists all keys. Needs
 * SLUICE_GATEWAY_URL and SLUICE_ACCESS_TOKEN: `npx node --conditions=@sluice/source examples/account.ts`.
 */
import { Account, formatQuota, quota, UNITS_PER_USD } from "@sluice/core"
import { AccountClient } from "@sluice/core/client"
import { Console, DateTime, Effect, Stream } from "effect"
import { run } from "./running/run.ts"

const program = Effect.gen(function* () {
  const { tokens, user } = yield* Account
  const { quota: balance, username } = yield* user
  yield* Console.log(`${username} has ${formatQuota(balance)}`)
  const expires = { _tag: "At", at: DateTime.add(yield* DateTime.now, { days: 7 }) } as const
  const visitor = yield* tokens.create({ name: "visitor", remainQuota: quota(2 * UNITS_PER_USD), expires })
  const id = yield* Effect.fromNullishOr(visitor.id)
  yield* Effect.andThen(Console.log(`created ${visitor.name}: ${visitor.key}`), tokens.disable(id))
  yield* Stream.runForEach(tokens.list, ({ enabled, name, remainQuota }) =>
    Console.log(`${name}: ${formatQuota(remainQuota)}${enabled ? "" : ", disabled"}`)
  )
  yield* tokens.remove(id)
})

run(Effect.provide(program, AccountClient.layerConfig()))
// → … has $…
// → created visitor: <redacted:ApiKey>
// → laptop: $1.00
// → harbour office: $1.00
// → visitor: $2.00, disabled
