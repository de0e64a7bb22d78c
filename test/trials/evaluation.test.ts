/** Evaluations and plans on the command line: JSON on standard output, a report, an exit code. */
import { watch } from "node:fs"
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sluiceHere } from "../cli/Launcher.ts"

const root = process.cwd()
let folder = ""

const lines = (values: ReadonlyArray<unknown>) =>
  `${values.map((value) => JSON.stringify(value)).join("\n")}\n`

const SECTIONS = [
  "Oiling the hinges",
  "Painting white beams",
  "Counting passing boats",
  "Breaking winter ice"
]

const RETRIEVAL = ["eval", "retrieval", "--data", "data", "--collection", "<tiny>", "--json"]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-cli-evaluation-"))
  await mkdir(join(folder, "docs"))
  await writeFile(
    join(folder, "docs/lock.md"),
    `# The lock\n\n${SECTIONS.map((name) => `## ${name}\n\n${`The keeper is ${name.toLowerCase()} by himself every spring. `.repeat(4)}`).join("\n\n")}\n`
  )
  const collection = join(folder, "data/retrieval/<tiny>")
  await mkdir(collection, { recursive: true })
  await writeFile(
    join(collection, "corpus.jsonl"),
    lines(SECTIONS.map((name, i) => ({ _id: `d${i}`, title: "", text: `The keeper is ${name}.` })))
  )
  await writeFile(
    join(collection, "queries.jsonl"),
    lines(SECTIONS.map((name, i) => ({ _id: `q${i}`, text: name })))
  )
  await writeFile(join(collection, "qrels.tsv"), SECTIONS.map((_, i) => `q${i}\td${i}\t1`).join("\n"))
  process.chdir(folder)
})
afterAll(async () => {
  process.chdir(root)
  await rm(folder, { recursive: true, force: true })
})

const sluice = (...args: ReadonlyArray<string>) => sluiceHere(args)

describe("sluice eval", () => {
  it("retrieval prints runs and comparisons, writes a report, and fails below --fail-under", async () => {
    const below = ["--fail-under", "nDCG@10=.5", "--fail-under", "hit@3=1.5"]
    const words = [...RETRIEVAL, "--a", '{"recall":2}', ...below, "--report", "report.html"]
    const done = await sluice(...words)
    expect(done.code, done.stderr).toBe(1)
    expect(done.stderr).toContain("hit@3 of default is 1.0000, below 1.5")
    expect(done.stderr).not.toContain("nDCG@10 of default")
    const { comparisons, each, queries, runs } = JSON.parse(done.stdout)
    expect([queries, each]).toEqual([4, undefined])
    expect(runs.map(({ name }: { name: string }) => name)).toEqual([
      "bm25",
      "embeddings",
      "hybrid",
      "embeddings+rerank",
      "default",
      "a"
    ])
    expect(runs[4].metrics["MRR@10"]).toBe(1)
    expect(runs[4].cost).toEqual({ embeddingCalls: 4, rerankCalls: 4, tokens: 0 })
    expect(runs[4].latency.p95).toBeGreaterThan(0)
    expect(comparisons[0]).toMatchObject({ a: "default", b: "bm25", queries: 4 })
    expect(comparisons[1]).toMatchObject({ a: "a", b: "default" })

    // The report's folder is deleted during the evaluation: the result is still printed.
    await mkdir(join(folder, "gone"))
    const watcher = watch(
      join(folder, "gone"),
      () => void rm(join(folder, "gone"), { recursive: true, force: true })
    )
    const lost = await sluice(...RETRIEVAL, "--report", "gone/report.html")
    watcher.close()
    expect(lost.code).toBe(1)
    expect(lost.stderr).toContain("gone/report.html cannot be written")
    expect(JSON.parse(lost.stdout).queries).toBe(4)

    const report = await readFile(join(folder, "report.html"), "utf8")
    expect(report).toContain("<svg")
    expect(report).toContain("{&quot;recall&quot;:2}")
    expect(report).toContain("Retrieval on &lt;tiny&gt;")
    expect(report).not.toMatch(/<tiny>|<script|\bsrc=|\bhref=|https?:|NaN|undefined/)
  })

  it("library generates questions, tune measures fusions, and why explains one question", async () => {
    const done = await sluice("eval", "library", "--docs", "docs", "--data", "library", "--json")
    expect(done.code, done.stderr).toBe(0)
    const { note, queries, runs } = JSON.parse(done.stdout)
    expect(queries).toBe(2)
    expect(runs.map(({ name }: { name: string }) => name)).toEqual(["bm25", "default"])
    expect(note).toContain("2 headings")

    const river = ["--data", "library", "--collection", "river", "--json"]
    const other = await sluice("eval", "library", "--docs", "docs", ...river)
    expect(other.code, other.stderr).toBe(0)
    expect(JSON.parse((await sluice("tune", ...river)).stdout).questions).toBe(2)
    const missing = await sluice("tune", "--data", "library", "--collection", "sea", "--json")
    expect(JSON.parse(missing.stdout).error.message).toContain('no collection "sea"')

    const [tuned, explained, unknown] = await Promise.all([
      sluice("tune", "--data", "library", "--json"),
      sluice("why", "lock.md", "Who is breaking the ice?", "--data", "library", "--json"),
      sluice("why", "gate.md", "Who is breaking the ice?", "--data", "library", "--json")
    ])
    expect(tuned.code, tuned.stderr).toBe(0)
    const tuning = JSON.parse(tuned.stdout)
    expect([tuning.questions, tuning.fusions.length > 1]).toEqual([2, true])
    const why = JSON.parse(explained.stdout)
    expect(why.passages[0]).toMatchObject({ outcome: "kept", rerank: { rank: 1 } })
    expect(why.passages[0].passage.headings).toContain("Breaking winter ice")
    expect(JSON.parse(unknown.stdout).error.reason).toBe("NotFound")
  })

  it("rejects invalid flags before it measures", async () => {
    const refused = await Promise.all(
      [
        ["--a", '{"recal":5}'],
        ["--a", "nowhere.json"],
        ["--fail-under", "nDCG=.4"],
        ["--report", "nowhere/report.html"]
      ].map((args) => sluice(...RETRIEVAL, ...args))
    )
    expect(refused.map(({ code, stdout }) => [code, JSON.parse(stdout).error.reason])).toEqual([
      [1, "Malformed"],
      [1, "NotFound"],
      [1, "Malformed"],
      [1, "Store"]
    ])
  })
})

describe("sluice ingest --plan", () => {
  it("prints the changes and makes none", async () => {
    const [planned, text] = await Promise.all([
      sluice("ingest", "docs", "--data", "planned", "--plan", "--json"),
      sluice("ingest", "docs", "--data", "text", "--plan")
    ])
    expect(planned.code, planned.stderr).toBe(0)
    expect(JSON.parse(planned.stdout)).toMatchObject({ added: 1, replaced: 0, removed: 0, unchanged: 0 })
    expect(text.stdout).toContain("added     lock.md")
    expect(text.stdout).toMatch(/^4 passages to write; .* in 1 call$/m)
    expect(text.stdout).toContain("Dry run; nothing changed")
  })
})
