/** The generated pages of docs/reference are current, and name every variable that the code reads. */
import { ConfigProvider, Effect, Redacted, Struct } from "effect"
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { ServerConfig } from "../apps/demo-server/src/config/ServerConfig.ts"
import { variablesOfServer } from "../scripts/reference/configurationPage.ts"
import { SECTIONS } from "../scripts/reference/variables.ts"
import { referencePages } from "../scripts/write-reference.ts"
import { DIALECTS } from "../packages/providers/src/index.ts"

const root = join(import.meta.dirname, "..")
const pages = await Effect.runPromise(referencePages)
const all = [...SECTIONS].flatMap(([title, variables]) => variables.map((one) => ({ ...one, title })))
const named = all.map(({ name }) => name)
const ofServer = variablesOfServer()
const inServer = all.filter(({ name }) => ofServer.has(name))

/** Types that take any text at the start. */
const FREE = new Set(["text", "path", "folder", "model", "secret"])

/** The server's configuration with one variable set, or why the start is refused. */
const settingsWith = (name?: string, value = "") =>
  Effect.runPromise(
    ServerConfig.make.pipe(
      Effect.match({
        onFailure: ({ message }) => ({ message }),
        onSuccess: (settings) => Struct.omit(settings, ["portGiven", "unusedVariables"])
      }),
      Effect.provideService(
        ConfigProvider.ConfigProvider,
        ConfigProvider.fromEnv({
          env: { OPENAI_API_KEY: "key", ...(name !== undefined && { [name]: value }) }
        })
      )
    )
  )

/** Redacted values and functions do not count. */
const comparable = (settings: object) =>
  JSON.stringify(settings, (_, value) => (Redacted.isRedacted(value) ? "redacted" : value))

it("a variable that is nearly one of the server is named, and no other", async () => {
  const misspelt = (env: Readonly<Record<string, string>>) =>
    Effect.runPromise(
      ServerConfig.make.pipe(
        Effect.map(({ misspeltVariables }) =>
          misspeltVariables.map(({ name, nearest }) => `${name} → ${nearest}`).toSorted()
        ),
        Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
      )
    )
  const near = {
    SLUICE_PROT: "1",
    SLUICE_DOCUMENT: "s3://x/y",
    SLUICE_PORT: "80",
    SLUICE_TOKENS_PER_MINUT: "1"
  }
  expect(await misspelt(near)).toEqual([
    "SLUICE_DOCUMENT → SLUICE_DOCUMENTS",
    "SLUICE_PORT → PORT",
    "SLUICE_PROT → PORT",
    "SLUICE_TOKENS_PER_MINUT → SLUICE_TOKENS_PER_MINUTE"
  ])
  const elsewhere = named.filter((name) => !ofServer.has(name))
  const others = Object.fromEntries(elsewhere.map((name) => [name, "x"]))
  // Kubernetes sets the last two for a service `sluice`.
  const service = { SLUICE_PORT: "tcp://10.0.0.1:80", SLUICE_SERVICE_HOST: "10.0.0.1" }
  expect(await misspelt({ ...others, ...service })).toEqual([])
})

describe("docs/reference", () => {
  it.each(Object.keys(pages))("%s is current: run `npm run -s docs:reference`", (path) => {
    expect(readFileSync(join(root, path), "utf8")).toBe(pages[path])
  })

  it("names every variable that the code reads, once", () => {
    const sources = execFileSync("git", ["ls-files", "packages/*/src/*.ts", "apps/*/src/*.ts"], { cwd: root })
      .toString()
      .split("\n")
      .filter((path) => path !== "" && !path.includes("/web/"))
      .map((path) => readFileSync(join(root, path), "utf8"))
    const mentioned = sources.flatMap((text) =>
      [
        ...text.matchAll(/"((?:SLUICE|OTEL)_[A-Z_]+)"/g),
        ...text.matchAll(/Config\.\w+\(\s*"([A-Z_]+)"/g),
        ...text.matchAll(/(?:Config\.schema|textVariable)\([^;]{0,200}?"([A-Z][A-Z_]+)"/g)
      ].map(([, name = ""]) => name)
    )
    const read = new Set([...ofServer, ...mentioned].filter((name) => !name.endsWith("_FILE")))
    const keys = new Set(DIALECTS.map(({ keyVariable }) => keyVariable))
    expect([...read].filter((name) => !named.includes(name) && !keys.has(name))).toEqual([])
    expect(all.filter(({ name, title }) => !title.startsWith("Read by Node") && !read.has(name))).toEqual([])
    expect(named.filter((name, at) => named.indexOf(name) !== at)).toEqual([])
  })

  it.each(inServer.filter((one) => one.default !== "–"))("$name is $default when unset", async (one) => {
    expect(comparable(await settingsWith(one.name, one.default))).toBe(comparable(await settingsWith()))
  })

  it.each(inServer)("$name has the type: $type", async ({ name, type }) => {
    expect("message" in (await settingsWith(name, "?"))).toBe(!FREE.has(type))
  })
})
