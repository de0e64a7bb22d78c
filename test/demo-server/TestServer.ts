/** A server on a loopback port with its own data folder, and calls with each kind of credential. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { rmSync } from "node:fs"
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Embedder, Reader, Reranker } from "@sluice/core"
import { ErrorBody } from "@sluice/core/contract"
import { ConfigProvider, Console, Context, Effect, Layer, Logger, Schema } from "effect"
import { HttpServer } from "effect/http"
import { SignIn } from "../../apps/demo-server/src/accounts/SignIn.ts"
import { SESSION_COOKIE } from "../../apps/demo-server/src/contract/Access.ts"
import { ACCOUNTS } from "../../apps/demo-server/src/database/Database.ts"
import { migrate } from "../../apps/demo-server/src/database/Migrations.ts"
import * as NodeSqlite from "../../apps/demo-server/src/sql/NodeSqlite.ts"
import { Recovery } from "../../apps/demo-server/src/billing/Recovery.ts"
import { Maintenance } from "../../apps/demo-server/src/jobs/Maintenance.ts"
import * as Server from "../../apps/demo-server/src/Server.ts"
import { reportStartError } from "../../apps/demo-server/src/config/StartError.ts"

export type Credential = "key" | "token" | "session" | "none"

export interface CallOptions {
  /** Default: the API key. */
  readonly as?: Credential
  readonly method?: string
  readonly json?: unknown
  readonly body?: FormData | string
  readonly headers?: Record<string, string>
}

export class TestServer extends Context.Service<
  TestServer,
  {
    readonly url: string
    readonly data: string
    readonly secrets: { readonly apiKey: string; readonly accessToken: string; readonly login: string }
    /** Runs the recovery of charges now. */
    readonly recover: Recovery["Service"]["recover"]
    /** Plans the maintenance of this hour now. */
    readonly planMaintenance: Maintenance["Service"]["offer"]
    /** Everything printed and logged. */
    readonly printed: ReadonlyArray<string>
    readonly call: (path: string, options?: CallOptions) => Effect.Effect<Response>
    /** The decoded body. */
    readonly json: <S extends Schema.ConstraintDecoder<unknown>>(
      schema: S,
      path: string,
      options?: CallOptions
    ) => Effect.Effect<S["Type"]>
    /** The decoded data of each server-sent event, without `[DONE]`. */
    readonly events: <S extends Schema.ConstraintDecoder<unknown>>(
      schema: S,
      path: string,
      options?: CallOptions
    ) => Effect.Effect<ReadonlyArray<S["Type"]>>
  }
>()("test/demo-server/TestServer") {}

export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sluice-server-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

export interface TestServerOptions {
  readonly env?: Record<string, string>
  readonly data?: string
  /** Whether the server adds the sample documents, which takes seconds. */
  readonly samples?: boolean
  readonly models?: Layer.Layer<Embedder | Reranker | Reader>
}

const appendTo =
  (printed: Array<string>) =>
  (...parts: ReadonlyArray<unknown>) =>
    void printed.push(parts.map(String).join(" "))

const consoleTo = (printed: Array<string>): Console.Console => {
  const append = appendTo(printed)
  return { ...globalThis.console, log: append, error: append }
}

const listen = (data: string, printed: Array<string>, { env = {}, models }: TestServerOptions) => {
  const append = appendTo(printed)
  const server = models === undefined ? Server.layer : Server.layerWith(models)
  return (server as ReturnType<typeof Server.layerWith<never, never>>).pipe(
    Layer.provide(Layer.succeed(Console.Console, consoleTo(printed))),
    Layer.provide(
      Logger.layer([Logger.make(({ message, cause }) => append(String(message), String(cause)))])
    ),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({ PORT: "0", SLUICE_DATA: data, ...env }))),
    Layer.provide(NodeServices.layer)
  )
}

/** Runs a start that fails, as `main.ts` does. In this process, because a child process takes a second. */
export const failedStart = Effect.fnUntraced(function* (data: string, env: Record<string, string> = {}) {
  const printed: Array<string> = []
  const before = process.exitCode
  yield* Layer.build(listen(data, printed, { env })).pipe(
    Effect.scoped,
    Effect.andThen(Effect.die("It started")),
    Effect.catchCause(reportStartError),
    Effect.provideService(Console.Console, consoleTo(printed))
  )
  const code = process.exitCode
  process.exitCode = before
  return { code, printed: printed.join("\n") }
})

let accounts: Promise<string> | undefined

/** Accounts as the first start makes them: once for a process, because the migrations take a fifth of a start. */
const newAccounts = async (): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-accounts-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, ACCOUNTS)
  await Effect.runPromise(migrate.pipe(Effect.provide(NodeSqlite.layer(file)), Effect.scoped))
  await chmod(file, 0o600)
  return file
}

const newDataFolder = Effect.tap(temporaryFolder, (folder) =>
  Effect.promise(async () => copyFile(await (accounts ??= newAccounts()), join(folder, ACCOUNTS)))
)

/** Starts a server that stops with the scope. */
export const startServer = Effect.fnUntraced(function* (options: TestServerOptions = {}) {
  const isInPostgres = options.env?.["SLUICE_DATABASE_URL"] !== undefined
  const data = options.data ?? (yield* isInPostgres ? temporaryFolder : newDataFolder)
  if (options.samples !== true) {
    yield* Effect.promise(async () => {
      await mkdir(data, { recursive: true })
      await writeFile(join(data, "samples-read"), "")
    })
  }
  const printed: Array<string> = []
  const context = yield* Layer.build(listen(data, printed, options))
  const signIn = Context.get(context, SignIn)
  const { address } = Context.get(context, HttpServer.HttpServer)
  const url = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  const fresh = yield* Effect.orDie(signIn.firstStart)
  const secrets = {
    apiKey: fresh?.apiKey ?? "",
    accessToken: fresh?.accessToken ?? "",
    login: signIn.login
  }
  const session = yield* Effect.orDie(signIn.openSession("owner"))

  const credentials: Record<Credential, Record<string, string>> = {
    key: { authorization: `Bearer ${secrets.apiKey}` },
    token: { authorization: `Bearer ${secrets.accessToken}` },
    session: { cookie: `${SESSION_COOKIE}=${session}`, "sec-fetch-site": "same-origin" },
    none: {}
  }
  const call = (path: string, { as = "key", method, json, body, headers }: CallOptions = {}) =>
    Effect.promise((signal) => {
      const content = json === undefined ? body : JSON.stringify(json)
      return fetch(`${url}${path}`, {
        signal,
        method: method ?? (content === undefined ? "GET" : "POST"),
        ...(content !== undefined && { body: content }),
        headers: {
          ...credentials[as],
          ...(json !== undefined && { "content-type": "application/json" }),
          ...headers
        }
      })
    })
  const body = (response: Response) => Effect.promise(() => response.text())
  return TestServer.of({
    url,
    data,
    secrets,
    printed,
    recover: Context.get(context, Recovery).recover,
    planMaintenance: Context.get(context, Maintenance).offer,
    call,
    json: (schema, path, options) =>
      Effect.map(Effect.flatMap(call(path, options), body), (text) =>
        Schema.decodeUnknownSync(schema)(JSON.parse(text))
      ),
    events: (schema, path, options) =>
      call(path, { ...options, headers: { accept: "text/event-stream", ...options?.headers } }).pipe(
        Effect.flatMap(body),
        Effect.map((text) =>
          [...text.matchAll(/^data: (.*)$/gm)]
            .map(([, data]) => data ?? "")
            .filter((data) => data !== "[DONE]")
            .map((data) => Schema.decodeUnknownSync(schema)(JSON.parse(data)))
        )
      )
  })
})

export const testServer = (options?: TestServerOptions) => Layer.effect(TestServer, startServer(options))

/** The body of an error. */
export const errorOf = (response: Response): Effect.Effect<ErrorBody["error"]> =>
  Effect.promise(async () => Schema.decodeUnknownSync(ErrorBody)(await response.json()).error)

/** A multipart body of files by path. */
export const filesOf = (files: Record<string, string | Uint8Array<ArrayBuffer>>): FormData => {
  const form = new FormData()
  for (const [path, content] of Object.entries(files)) form.append("files", new Blob([content]), path)
  return form
}
