/** The command line as a program uses it: JSON on standard output, messages on standard error, an exit code. */
import { existsSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sluiceHere, sluiceIn } from "../cli/Launcher.ts"
import { renderBar } from "../../apps/demo-server/src/cli/output/Output.ts"

const root = process.cwd()
let folder = ""

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-cli-"))
  await mkdir(join(folder, "docs"))
  await writeFile(
    join(folder, "docs/tides.md"),
    "# Tides\n\nThe sea gate closes two hours before high water.\n"
  )
  await writeFile(join(folder, "docs/crew.md"), "# Crew\n\nThe night watch is held by two keepers.\n")
  await writeFile(join(folder, "docs/broken.pdf"), "no PDF")
  process.chdir(folder)
})
afterAll(async () => {
  process.chdir(root)
  await rm(folder, { recursive: true, force: true })
})

/** Prints to standard error if Effect is loaded. */
const NAME_EFFECT =
  'import { registerHooks } from "node:module";registerHooks({ resolve: (name, context, next) => { if (name.startsWith("effect")) console.error(name); return next(name, context) } })'

const sluice = (...args: ReadonlyArray<string>) => sluiceHere(args)

describe("sluice", () => {
  it("ask --docs --json prints only the answer, its citations and its trace", async () => {
    const words = ["ask", "When does the sea gate close?", "--docs", "docs", "--data", "data", "--json"]
    const result = await sluiceIn(folder, words)
    expect(result.code, result.stderr).toBe(0)
    const { answer, citations, trace } = JSON.parse(result.stdout)
    expect(answer).toContain("two hours before high water")
    expect(citations[0]).toMatchObject({ n: 1, document: "tides.md" })
    expect(trace.passages.length).toBeGreaterThan(0)
    expect(result.stderr).toContain("broken.pdf")
  })

  it("sync follows a source, and removes what it no longer has", async () => {
    await mkdir("followed", { recursive: true })
    await writeFile("followed/one.md", "# One\n\nThe first lock is at Harlow.\n")
    await writeFile("followed/two.md", "# Two\n\nThe second lock is at Ware.\n")
    const sync = ["sync", "followed", "--data", "synced", "--collection", "locks", "--json"]
    expect(JSON.parse((await sluice(...sync)).stdout)).toMatchObject({ name: "followed", added: 2 })
    await rm("followed/two.md")
    expect(JSON.parse((await sluice(...sync)).stdout)).toMatchObject({ unchanged: 1, removed: 1 })
    const absent = await sluice("sync", "./absent", "--data", "synced")
    expect([absent.code, absent.stderr]).toEqual([1, "sluice: There is no folder ./absent. Check the path\n"])
  })

  it("ingest lists the files it could not read; ask prints sources for people", async () => {
    const ingested = await sluice("ingest", "docs", "--data", "again", "--json")
    expect(ingested.code).toBe(1)
    const report = JSON.parse(ingested.stdout)
    expect(report).toMatchObject({ added: 2, replaced: 0, removed: 0 })
    expect(report.failed).toMatchObject([{ path: "broken.pdf", reason: "Malformed" }])
    expect((await sluice("ingest", "docs/crew.md", "--data", "again")).code).toBe(0)
    const result = await sluice("ask", "Who holds the night watch?", "--data", "again")
    expect(result.stdout).toContain("[1] crew.md")
    expect(result.stdout).toContain("two keepers")
    const unsure = await sluice("ask", "How much does the night watch cost?", "--data", "again")
    expect(unsure.stdout).toContain("No sure answer. Closest passages:")
    expect(unsure.stdout).toMatch(/crew\.md.*\n.*\*night\* \*watch\*/)
  })

  it("needs only an embedding server, and sends the prefixes of its model", async () => {
    const sent: Array<{ readonly model: string; readonly input: ReadonlyArray<string> }> = []
    const server = createServer(async (request, response) => {
      const body = JSON.parse(await text(request))
      sent.push(body)
      const data = body.input.map((_: string, index: number) => ({ index, embedding: [1, index] }))
      response.end(JSON.stringify({ data }))
    })
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
    const env = {
      SLUICE_GATEWAY_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      SLUICE_API_KEY: "none",
      SLUICE_EMBEDDING_MODEL: "e5",
      SLUICE_QUERY_PREFIX: "query: ",
      SLUICE_PASSAGE_PREFIX: "passage: ",
      SLUICE_EMBEDDING_BATCH: "1",
      SLUICE_DATA: "alone"
    }
    const words = ["ask", "Who holds the night watch?", "--docs", "docs", "--json"]
    const result = await sluiceHere(words, env)
    server.close()
    expect(result.code, result.stderr).toBe(0)
    expect(JSON.parse(result.stdout).answer).toContain("two keepers")
    expect(result.stderr).toMatch(/SLUICE_RERANK_MODEL is not set.*embedded model/)
    expect(sent.every(({ input, model }) => model === "e5" && input.length === 1)).toBe(true)
    const texts = sent.flatMap(({ input }) => input)
    expect(texts.filter((one) => one.startsWith("passage: "))).toHaveLength(2)
    expect(texts).toContain("query: Who holds the night watch?")
  })

  it("ask searches only what the filters allow", async () => {
    const where = ["--document", "crew.md", "--page", "2-"]
    const result = await sluice(
      "ask",
      "Who holds the night watch?",
      "--docs",
      "docs/crew.md",
      "--data",
      "filtered",
      "--json",
      ...where
    )
    expect(result.code, result.stderr).toBe(1)
    expect(JSON.parse(result.stdout).trace.passages).toEqual([])
    expect(result.stderr).toContain("No passages match your filters")
    const text = await sluice("ask", "Who?", "--data", "filtered", ...where)
    expect(text).toMatchObject({ code: 1, stdout: "" })
    const absent = await sluice("ask", "Who?", "--data", "filtered", "--document", "crews.md")
    expect(absent).toMatchObject({ code: 1, stdout: "" })
    expect(absent.stderr).toBe("sluice: --document crews.md is not in the library. Did you mean crew.md?\n")
    const chat = await sluice("chat", "--data", "filtered", "--document", "elsewhere/")
    expect(chat.stderr).toContain("--document elsewhere/ is not in the library")
  })

  it("commands that read create no folder", async () => {
    for (const words of [
      ["ask", "Who?"],
      ["chat"],
      ["why", "crew.md", "Who?"],
      ["summarise"],
      ["tune"],
      ["eval", "library"]
    ]) {
      const failed = await sluice(...words, "--data", "none")
      expect(failed.code, words.join(" ")).toBe(1)
      expect(failed.stderr).toMatch(/There is no library in .*none\. Add documents with `sluice ingest/)
    }
    const plan = await sluice("ingest", "docs", "--data", "none", "--plan")
    expect(plan.stdout).toContain("documents: 2 added")
    expect(plan.stdout.match(/broken\.pdf/g)).toHaveLength(1)
    expect(existsSync("none")).toBe(false)
  })

  it("ask --docs names the files it could not read once", async () => {
    const ask = () => sluice("ask", "Who holds the night watch?", "--docs", "docs", "--data", "repeated")
    expect((await ask()).stderr).toContain("not read: broken.pdf: not a")
    expect((await ask()).stderr).toMatch(/^1 file not read\. See: sluice ingest \S+docs --plan\n$/)
  })

  it("exits with code 1 on failure", async () => {
    const failed = await sluiceIn(folder, ["frobnicate", "--json"])
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout).error).toMatchObject({ reason: "Usage" })
    expect(failed.stderr).toMatch(/^sluice: \S/)
  })

  it.each(["SIGTERM", "SIGINT"] as const)(
    "serve ends with code 0 when it is stopped by %s",
    async (signal) => {
      const env = { PORT: "0", SLUICE_SAMPLES: "false" }
      const stopped = await sluiceIn(folder, ["serve", "--data", "served"], env, "http://", signal)
      expect(stopped).toMatchObject({ code: 0, stderr: "" })
    }
  )

  it("--version loads no command", async () => {
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(NAME_EFFECT)}` }
    const { stderr, stdout } = await sluiceIn(folder, ["--version"], env)
    expect(stdout).toMatch(/^sluice v\d+\.\d+\.\d+\n$/)
    expect(stderr).toBe("")
  })

  it("a wrong flag is said in one line, with the right one or the numbers that it takes", async () => {
    for (const [words, message] of [
      [
        ["serve", "--prot", "1"],
        "flag: --prot in command sluice serve. Did you mean: --port. See: sluice serve"
      ],
      [
        ["ask", "What?", "--recall", "x"],
        '--recall: "x". Expected: a whole number, 1 or more. See: sluice ask'
      ],
      [["ask", "What?", "--keep", "0"], '--keep: "0". Expected: a whole number, 1 or more. See: sluice ask'],
      [["summarise", "--tokens", "1.5"], '--tokens: "1.5". Expected: a whole number, 1 or more. See'],
      [["serve", "--port", "99999"], '--port: "99999". Expected: a whole number, from 0 to 65535. See']
    ] as const) {
      const failed = await sluice(...words)
      expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining(message)])
    }
  })

  it.each([
    { args: ["ask", "", "--data", "data"], reason: "Empty" },
    { args: ["ask", "--data", "data"], reason: "Usage" },
    { args: ["ask", "What?", "--docs", "nowhere", "--data", "data"], reason: "Usage" },
    { args: ["ask", "What?", "--page", "9-3", "--data", "data"], reason: "Malformed" },
    { args: ["eval", "retrieval", "--data", "docs", "--collection", "none"], reason: "NotFound" }
  ])("reports $reason for $args", async ({ args, reason }) => {
    const failed = await sluice(...args, "--json")
    expect(failed.code).toBe(1)
    expect(JSON.parse(failed.stdout).error).toMatchObject({ reason })
    expect(failed.stderr).toMatch(/^sluice: \S/)
  })

  it("says what is wrong with a vendor and a file", async () => {
    const vendor = await sluice("connect", "opnai", "--data", "data")
    expect(vendor.stderr).toBe("sluice: opnai is no vendor. Did you mean `openai`?\n")
    expect((await sluice("connect", "deepseek", "--data", "data")).stderr).toContain(
      "sluice connect openai --id deepseek --url ADDRESS"
    )
    expect((await sluice("figures", "docs/crew.md")).stderr).toContain("this file is not a PDF")
  })

  it("says what is wrong with the value of a flag", async () => {
    const nowhere = await sluice("ask", "What?", "--docs", "nowhere", "--data", "data")
    expect(nowhere.stderr).toContain('"nowhere". Path does not exist: ')
    expect((await sluice("ask", "What?", "--meta", "x")).stderr).toContain('"x". Invalid key=value format. ')
    const kind = await sluice("ask", "What?", "--kind", "tables")
    expect(kind.stderr).toContain(
      '"tables". Expected: "passage" | "figure" | "table". See: sluice ask --help'
    )
  })
})

describe("the progress bar", () => {
  it("fits the terminal and fills with the work", () => {
    const bar = (done: number) => renderBar("Ingesting", done, 8, "", 80)
    expect([0, 4, 8].map((done) => bar(done).split("█").length - 1)).toEqual([0, 14, 28])
    expect(renderBar("Ingesting", 3, 8, "x".repeat(200), 40)).toHaveLength(39)
    expect(renderBar("Ingesting", 3, undefined, "", 80)).toBe("Ingesting 3  ")
  })
})
