/** Servers with one PostgreSQL and one small S3 server. */
import { Effect } from "effect"
import { s3Server } from "../rag/S3Server.ts"
import type { NewStore } from "./Stores.ts"
import { type CallOptions, startServer, type TestServer } from "./TestServer.ts"

/** LanceDB reads its variables from the process. */
const withVariables = (variables: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => Object.assign(process.env, variables)),
    () => Effect.sync(() => Object.keys(variables).forEach((name) => delete process.env[name]))
  )

/** The variables of an S3 server, as LanceDB reads them. */
export const s3Variables = Effect.map(s3Server, ({ counts, storageOptions }) => ({
  counts,
  variables: {
    AWS_ACCESS_KEY_ID: "test",
    AWS_SECRET_ACCESS_KEY: "test",
    AWS_REGION: "us-east-1",
    AWS_ENDPOINT: storageOptions.aws_endpoint,
    AWS_ALLOW_HTTP: "true"
  }
}))

/** The environment of servers with one new database and one new S3 server. */
export const sharedStore = Effect.fnUntraced(function* (store: NewStore) {
  yield* withVariables((yield* s3Variables).variables)
  return { ...(yield* store), SLUICE_DOCUMENTS: "s3://bucket/sluice" } as Record<string, string>
})

/** Two servers, each with a data folder of its own. The calls of the second use the credentials of the first. */
export const twoServers = Effect.fnUntraced(function* (
  store: NewStore,
  [own, others]: readonly [Record<string, string>, Record<string, string>] = [{}, {}]
) {
  const env = yield* sharedStore(store)
  const first = yield* startServer({ env: { ...env, ...own } })
  const other = yield* startServer({ env: { ...env, ...others } })
  const authorization = `Bearer ${first.secrets.apiKey}`
  const as = (options: CallOptions = {}): CallOptions => ({
    ...options,
    as: "none",
    headers: { authorization, ...options.headers }
  })
  const second: Pick<TestServer["Service"], "call" | "json" | "data" | "planMaintenance"> = {
    data: other.data,
    planMaintenance: other.planMaintenance,
    call: (path, options) => other.call(path, as(options)),
    json: (schema, path, options) => other.json(schema, path, as(options))
  }
  return { first, second }
})
