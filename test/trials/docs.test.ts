/** The documentation: its site builds, its links lead somewhere, every program compiles, and every block of code runs. */
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises"
import { globSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { withServer } from "../../bench/server/RunningServer.ts"
import { readPage } from "../readme/PageScript.ts"

/** Milliseconds: the site's tools are installed, and a page runs a dozen programs. */
const PATIENCE = 600_000

const root = join(import.meta.dirname, "../..")
const samples = join(root, "apps/demo-server/samples")
const run = promisify(execFile)

/** `documents-page.test.ts` runs the first and checks its results, runtimes.ts the second, `guides.test.ts` the others. */
const ELSEWHERE = new Set([
  "docs/guides/documents.md",
  "docs/guides/bundlers.md",
  "docs/guides/models.md",
  "docs/guides/ingest.md",
  "docs/guides/clients.md",
  "docs/explanation/money.md"
])

/** This page calls a gateway. Its variables would change what the others do. */
const OF_GATEWAY = "docs/guides/gateway.md"

const pages = globSync("docs/{start,tutorials,guides,reference,explanation,numbers}/*.md", { cwd: root })
  .concat("docs/migration.md", "README.md")
  .map((path) => ({ path, ...readPage(path) }))
const scripts = pages.filter(({ path, script }) => script !== undefined && !ELSEWHERE.has(path))

/** Questions, judgements and a figure, for the commands that evaluate. */
const writeData = async (folder: string) => {
  const collection = join(folder, "data/retrieval/harbour")
  const line = (...values: ReadonlyArray<object>) =>
    values.map((value) => `${JSON.stringify(value)}\n`).join("")
  await mkdir(collection, { recursive: true })
  await mkdir(join(folder, "data/figures"))
  const texts = ["The lower gate is opened when the levels are even.", "The pumps are greased each spring."]
  const corpus = texts.map((text, at) => ({ _id: `d${at}`, title: "", text }))
  await writeFile(join(collection, "corpus.jsonl"), line(...corpus))
  const queries = ["When is the lower gate opened?", "When are the pumps greased?"]
  await writeFile(
    join(collection, "queries.jsonl"),
    line(...queries.map((text, at) => ({ _id: `q${at}`, text })))
  )
  await writeFile(join(collection, "qrels.tsv"), "query-id\tcorpus-id\tscore\nq0\td0\t1\nq1\td1\t1\n")
  const figure = {
    document: "flow-study.pdf",
    page: 2,
    kind: "figure",
    number: "2",
    box: [70, 300, 500, 500]
  }
  await cp(join(samples, "flow-study.pdf"), join(folder, "data/figures/flow-study.pdf"))
  await writeFile(join(folder, "data/figures/gold.json"), JSON.stringify([figure]))
  const asked = { question: "How often are the pumps greased?", document: "handbook/05-upkeep.md" }
  await writeFile(join(folder, "questions.jsonl"), line(asked))
}

describe("docs", () => {
  let folder = ""
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "sluice-docs-"))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it(
    "the site builds, and no link or anchor of it is dead",
    async () => {
      await run("npm", ["run", "-s", "docs"], { cwd: root, maxBuffer: 1e8 })
      const dist = join(root, "docs/.vitepress/dist")
      const files = globSync("**/*.html", { cwd: dist })
      const texts = new Map<string, string>(
        await Promise.all(
          files.map(async (path) => [`/${path}`, await readFile(join(dist, path), "utf8")] as const)
        )
      )
      const dead = [...texts].flatMap(([page, text]) =>
        [...text.matchAll(/href="([^"#]*)#([^"]+)"/g)].flatMap(([link, path = "", anchor = ""]) => {
          const { host, pathname } = new URL(path, `http://site${page}`)
          if (host !== "site") return []
          const target = texts.get(decodeURI(pathname.replace(/\/$/, "/index.html")))
          return target?.includes(` id="${decodeURI(anchor)}"`) === true ? [] : [`${page}: ${link}`]
        })
      )
      expect(files.length).toBeGreaterThan(60)
      expect(dead).toEqual([])
    },
    PATIENCE
  )

  it(
    "every program compiles",
    async () => {
      const readmes = globSync("packages/*/README.md", { cwd: root }).map(readPage)
      const programs = [...pages, ...readmes].flatMap(({ blocks }) =>
        blocks.filter(({ info }) => info.startsWith("ts"))
      )
      const cwd = await mkdtemp(join(folder, "types-"))
      await symlink(join(root, "node_modules"), join(cwd, "node_modules"))
      await writeFile(join(cwd, "package.json"), `{ "type": "module" }`)
      for (const [at, { code }] of programs.entries()) await writeFile(join(cwd, `program${at}.ts`), code)
      const typeRoots = [join(root, "node_modules/@types")]
      const compilerOptions = { noEmit: true, noUnusedLocals: false, declarationMap: false, typeRoots }
      const project = { extends: join(root, "tsconfig.base.json"), compilerOptions, include: ["*.ts"] }
      await writeFile(join(cwd, "tsconfig.json"), JSON.stringify(project))
      const compiled = await run(join(root, "node_modules/.bin/tsc"), ["-p", cwd]).catch(
        (cause: unknown) => cause
      )
      expect(programs.length).toBeGreaterThan(15)
      expect(compiled).toMatchObject({ stdout: "" })
    },
    PATIENCE
  )

  it(
    "every block of code runs",
    async () => {
      const data = join(folder, "server")
      await mkdir(data)
      await writeFile(join(data, "samples-read"), "") // skips ingesting the samples
      const failed = await withServer(data, async ({ output, url }) => {
        const [key = "", token = ""] = [/\bsk-[\w-]+/, /\bsat-[\w-]+/].map(
          (secret) => secret.exec(output())?.[0]
        )
        const env = {
          ...process.env,
          SLUICE: url,
          KEY: key,
          TOKEN: token,
          FOLDER: data,
          NODE_OPTIONS: "--conditions=@sluice/source --disable-warning=ExperimentalWarning",
          PATH: `${join(root, "node_modules/.bin")}:${process.env["PATH"]}`
        }
        const ofGateway = {
          SLUICE_GATEWAY_URL: url,
          SLUICE_API_KEY: key,
          SLUICE_EMBEDDING_MODEL: "sluice-lexical-1024",
          SLUICE_RERANK_MODEL: "sluice-lexical-rerank",
          SLUICE_CHAT_MODEL: "sluice-extractive"
        }
        const faults: Array<string> = []
        for (const { path, script = "" } of scripts) {
          const cwd = await mkdtemp(join(folder, "page-"))
          await symlink(join(root, "node_modules"), join(cwd, "node_modules"))
          for (const name of ["handbook/02-locking-through.md", "handbook/05-upkeep.md", "flow-study.pdf"])
            await cp(join(samples, name), join(cwd, "docs", name))
          await writeData(cwd)
          await writeFile(join(cwd, "package.json"), `{ "type": "module" }`)
          await run("bash", ["-c", script], {
            cwd,
            env: path === OF_GATEWAY ? { ...env, ...ofGateway } : env,
            maxBuffer: 1e8
          }).catch((cause: { stderr: string }) => faults.push(`${path}: ${cause.stderr.slice(-2000)}`))
        }
        return faults
      })
      expect(scripts.length).toBeGreaterThan(8)
      expect(failed).toEqual([])
    },
    PATIENCE
  )
})
