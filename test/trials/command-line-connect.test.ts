/** `sluice connect` and `sluice providers`: with flags, and on a terminal. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { spawn } from "node:child_process"
import { readFile, stat, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DIALECTS } from "../../packages/providers/src/index.ts"
import { sluiceHere, sluiceIn } from "../cli/Launcher.ts"
import { loopback } from "../demo-server/Loopback.ts"
import { temporaryFolder } from "../demo-server/TestServer.ts"
import { OPENAI_KEY, SECOND_KEY, startFakeOpenAi, startWithKey } from "../connect/FakeOpenAi.ts"

const launcher = join(import.meta.dirname, "../../apps/demo-server/bin/sluice.js")

/** Runs `sluice` in a folder. */
const run = (folder: string, env: Record<string, string>, ...words: ReadonlyArray<string>) =>
  Effect.promise(async () => {
    const before = process.cwd()
    process.chdir(folder)
    try {
      return await sluiceHere(words, { SLUICE_DATA: join(folder, "data"), ...env })
    } finally {
      process.chdir(before)
    }
  })

const readJson = (file: string) =>
  Effect.promise(async () => JSON.parse(await readFile(file, "utf8")) as unknown)

const savedIn = (folder: string) => join(folder, "data/connections/sluice.config.json")

/** Runs `sluice` on a terminal. Types each text once its prompt is there. */
const onTerminal = (
  folder: string,
  env: Record<string, string>,
  words: string,
  answers: ReadonlyArray<readonly [prompt: string, typed: string]>
) =>
  Effect.promise(
    () =>
      new Promise<string>((resolve) => {
        const command = `'${process.execPath}' '${launcher}' ${words}`
        const child = spawn("script", ["-qec", command, "/dev/null"], {
          cwd: folder,
          env: { ...process.env, SLUICE_DATA: join(folder, "data"), COLUMNS: "200", ...env }
        })
        let shown = ""
        let seen = 0
        const left = [...answers]
        child.stdout.on("data", (chunk) => {
          shown += String(chunk)
          const at = shown.indexOf(left[0]?.[0] ?? "\0", seen)
          if (at < 0) return
          seen = at + 1
          child.stdin.write(left.shift()?.[1] ?? "")
        })
        child.on("close", () => resolve(shown))
      })
  )

describe("sluice connect", () => {
  it.live("tries one call of each kind, and writes the file without the key", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const words = ["connect", "openai", "--url", `${openAi.url}/v1`, "--key-env", "MY_KEY", "--json"]
      const env = { SLUICE_DATA: join(folder, "data"), MY_KEY: OPENAI_KEY }
      const { code, stderr, stdout } = yield* Effect.promise(() => sluiceIn(folder, words, env))
      assert.strictEqual(code, 0, stderr)
      assert.deepInclude(JSON.parse(stdout), {
        file: savedIn(folder),
        tries: [
          { operation: "embeddings", model: "text-embedding-3-small", ok: true },
          { operation: "chat", model: "gpt-4o-mini", ok: true }
        ]
      })
      assert.deepStrictEqual(yield* readJson(savedIn(folder)), {
        upstreams: [{ dialect: "openai", url: `${openAi.url}/v1`, apiKey: { env: "MY_KEY" } }],
        embedded: true,
        library: { embedding: "text-embedding-3-small", chat: "gpt-4o-mini", vision: "gpt-4o-mini" }
      })
      assert.notInclude(stdout + stderr, OPENAI_KEY)
      const asked = openAi.requests.map(({ body, path }) => [path, body === "" ? {} : JSON.parse(body)])
      assert.deepInclude(asked[1]?.[1], { input: ["word"] })
      assert.isFalse(openAi.requests.some(({ path }) => path.includes("images")))
      const next = yield* run(folder, { MY_KEY: OPENAI_KEY }, "tune")
      assert.match(next.stderr, /^sluice: There is no library in /)
    }).pipe(Effect.scoped)
  )

  it.live("ask exits with 1 if the model's answer could not be proved", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const file = join(folder, "heron.md")
      yield* Effect.promise(() => writeFile(file, "# Herons\n\nThe heron waits on a roof.\n"))
      const env = { OPENAI_BASE_URL: `${openAi.url}/v1`, OPENAI_API_KEY: OPENAI_KEY }
      const asked = yield* run(folder, env, "ask", "Where does the heron wait?", "--docs", file, "--json")
      assert.deepStrictEqual([asked.code, JSON.parse(asked.stdout).outcome], [1, "unread"], asked.stderr)
    }).pipe(Effect.scoped)
  )

  it.live("tries an image only when it is asked to", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const words = ["connect", "openai", "--url", openAi.url, "--media", "--json"]
      const { stderr, stdout } = yield* run(folder, { OPENAI_API_KEY: OPENAI_KEY }, ...words)
      assert.include(stdout, '"gpt-image-1"', stderr)
      assert.include(stderr, "one image at the vendor’s price")
    }).pipe(Effect.scoped)
  )

  it.live("keeps what is in the file", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const file = join(folder, "sluice.config.json")
      const other = {
        id: "east",
        url: "https://east.example",
        apiKey: { env: "EAST" },
        models: [{ id: "rank", operation: "rerank", weight: 2 }]
      }
      const own = { id: "openai", dialect: "openai", priority: 3, timeoutSeconds: 9 }
      const before = { upstreams: [other, own], breaker: { failures: 3 }, library: { rerank: "rank" } }
      yield* Effect.promise(() => writeFile(file, JSON.stringify(before)))
      const words = ["connect", "openai", "--url", openAi.url, "--use", "chat"]
      const { code, stderr } = yield* run(folder, { OPENAI_API_KEY: OPENAI_KEY }, ...words)
      assert.strictEqual(code, 0, stderr)
      assert.deepStrictEqual(yield* readJson(file), {
        upstreams: [other, { ...own, url: openAi.url }],
        breaker: { failures: 3 },
        library: { rerank: "rank", chat: "gpt-4o-mini" }
      })
    }).pipe(Effect.scoped)
  )

  it.live("explains a call that fails, saves nothing if none succeeds, and does not print the key", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const vendor = yield* loopback(({ headers, path, response }) => {
        const echoed = { error: { message: `Wrong key: ${headers.authorization}`, code: "invalid_api_key" } }
        const models = { data: [{ id: "gpt-4o-mini" }] }
        response.writeHead(path === "/v1/models" ? 200 : 401, { "content-type": "application/json" })
        response.end(JSON.stringify(path === "/v1/models" ? models : echoed))
      })
      const words = ["connect", "openai", "--url", vendor.url]
      const { code, stderr } = yield* run(folder, { OPENAI_API_KEY: OPENAI_KEY }, ...words)
      assert.strictEqual(code, 1)
      assert.include(stderr, "Wrong key: Bearer <redacted>")
      assert.include(stderr, "Check that the credential is complete, enabled, and valid")
      assert.notInclude(stderr, OPENAI_KEY)
      const both = yield* run(folder, {}, ...words, "--key-env", "A", "--key-file", process.execPath)
      assert.include(both.stderr, "Name one place of the key: --key-env or --key-file")
      const missing = yield* run(folder, {}, "connect", "openai", "--url", vendor.url)
      assert.include(missing.stderr, "the variable OPENAI_API_KEY is not set")
      const missingFile = yield* Effect.promise(() => stat(savedIn(folder)).catch(() => undefined))
      assert.isUndefined(missingFile)
    }).pipe(Effect.scoped)
  )

  it.live("takes names of models for a server that does not list them", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const vendor = yield* loopback(({ body, response }) => {
        const { documents = [] } = JSON.parse(body) as { documents?: ReadonlyArray<string> }
        const results = documents.map((_, index) => ({ index, relevance_score: 1 - index / 2 }))
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ results }))
      })
      const env = { OPENAI_API_KEY: OPENAI_KEY }
      yield* run(folder, env, "connect", "openai", "--url", openAi.url)
      const words = ["connect", "gateway", "--id", "ranker", "--url", vendor.url, "--model", "rerank=bge"]
      const { code, stderr } = yield* run(folder, env, ...words)
      assert.strictEqual(code, 0, stderr)
      assert.deepInclude(yield* readJson(savedIn(folder)), {
        library: {
          embedding: "text-embedding-3-small",
          chat: "gpt-4o-mini",
          vision: "gpt-4o-mini",
          rerank: "bge"
        }
      })
      const wrong = yield* run(folder, env, "connect", "gateway", "--url", vendor.url, "--model", "draw=x")
      assert.include(wrong.stderr, "the operations are embeddings, rerank, chat, images, videos")
    }).pipe(Effect.scoped)
  )

  it.live("on a terminal asks for a name if the vendor is connected already", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const second = yield* startWithKey(SECOND_KEY)
      const folder = yield* temporaryFolder
      yield* run(folder, { OPENAI_API_KEY: OPENAI_KEY }, "connect", "openai", "--url", openAi.url)
      const words = `connect --url ${second.url} --use none`
      const shown = yield* onTerminal(folder, { OPENAI_API_KEY: "", MY_KEY: SECOND_KEY }, words, [
        ["Which vendor?", "OpenAI and"],
        ["OpenAI and", "\r"],
        ["A name for a second connection", "team a\r"],
        ["Up to 64 letters", "\x7f\x7f-b\r"],
        ["Where is the key", "\x1b[B\r"],
        ["The name of the variable", "MY_KEY\r"]
      ])
      assert.include(shown, "Saved in")
      assert.deepInclude(yield* readJson(savedIn(folder)), {
        upstreams: [
          { dialect: "openai", url: openAi.url },
          { dialect: "openai", id: "team-b", url: second.url, apiKey: { env: "MY_KEY" } }
        ]
      })
    }).pipe(Effect.scoped)
  )

  it.live("on a terminal asks for the vendor and the key, which it keeps in a private file", () =>
    Effect.gen(function* () {
      const openAi = yield* startFakeOpenAi
      const folder = yield* temporaryFolder
      const shown = yield* onTerminal(folder, { OPENAI_API_KEY: "" }, `connect --url ${openAi.url}`, [
        ["Which vendor?", "OpenAI and"],
        ["OpenAI and", "\r"],
        ["Where is the key", "\r"],
        ["is not shown", `${OPENAI_KEY}\r`],
        ["to search your documents?", "y"],
        ["to answer?", "n"],
        ["to look at figures?", "n"]
      ])
      assert.include(shown, "Saved in")
      assert.notInclude(shown, OPENAI_KEY)
      const keyFile = join(folder, "data/connections/openai.key")
      assert.deepStrictEqual(yield* readJson(savedIn(folder)), {
        upstreams: [{ dialect: "openai", url: openAi.url, apiKey: { file: "openai.key" } }],
        embedded: true,
        library: { embedding: "text-embedding-3-small" }
      })
      assert.strictEqual((yield* Effect.promise(() => stat(keyFile))).mode & 0o777, 0o600)
      assert.strictEqual(yield* Effect.promise(() => readFile(keyFile, "utf8")), `${OPENAI_KEY}\n`)
    }).pipe(Effect.scoped)
  )
})

describe("sluice providers", () => {
  it.live("lists what each vendor has, its key and its address", () =>
    Effect.gen(function* () {
      const { stdout } = yield* Effect.promise(() => sluiceHere(["providers", "--json"]))
      const { providers } = JSON.parse(stdout) as {
        providers: ReadonlyArray<{ id: string; operations: unknown }>
      }
      assert.deepStrictEqual(
        providers.map(({ id, operations }) => [id, operations]),
        DIALECTS.map(({ id, operations }) => [
          id,
          ["embeddings", "rerank", "chat", "images", "videos"].filter((name) => name in operations)
        ])
      )
      const table = yield* Effect.promise(() => sluiceHere(["providers"]))
      assert.match(table.stdout, /^mistral +✓ +✓ +MISTRAL_API_KEY +https:\/\/api\.mistral\.ai\/v1$/m)
    }).pipe(Effect.scoped)
  )
})
