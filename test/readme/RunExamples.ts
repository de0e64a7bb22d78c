/** Runs the examples of documents in a folder with `./docs`. */
import type { Answer } from "@sluice/rag"
import { execFile } from "node:child_process"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect } from "vitest"
import { END } from "../examples/end.ts"
import { docs, type Example } from "./Examples.ts"

const modules = join(import.meta.dirname, "../../node_modules")
const inTurn = join(import.meta.dirname, "../examples/inTurn.ts")

/** The samples that the examples ask about. */
const DOCUMENTS = [
  "handbook/02-locking-through.md",
  "handbook/05-upkeep.md",
  "handbook/07-mooring-and-fees.md",
  "flow-study.pdf"
]

export interface Examples {
  readonly folder: string
  /** Runs examples in turn in one process, and returns the value of each one's last constant. */
  readonly run: (
    examples: ReadonlyArray<Example>,
    env?: Readonly<Record<string, string>>
  ) => Promise<ReadonlyArray<unknown>>
  readonly remove: () => Promise<void>
}

/** Makes the folder inside node_modules, so that `@sluice/rag` resolves as in a user's program. */
export const makeExamples = async (): Promise<Examples> => {
  await mkdir(join(modules, ".cache"), { recursive: true })
  const folder = await mkdtemp(join(modules, ".cache/readme-"))
  for (const name of DOCUMENTS) await cp(join(docs, name), join(folder, "docs", name))
  const run: Examples["run"] = async (examples, env = {}) => {
    const files = examples.map(async ({ code, line }) => {
      const file = join(folder, `${line}-${code.length}.mjs`)
      const last = [...code.matchAll(/^const (\w+) =/gm)].at(-1)?.[1] ?? "null"
      await writeFile(file, `${stripTypeScriptTypes(code)}\nconsole.log("\\n" + JSON.stringify(${last}))\n`)
      return file
    })
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--conditions=@sluice/source", inTurn, ...(await Promise.all(files))],
      { cwd: folder, env: { ...process.env, ...env }, encoding: "utf8" }
    )
    return examples.map((_, at) => {
      const printed = stdout.split(`${END}\n`)[at] ?? ""
      return JSON.parse(printed.trim().split("\n").at(-1) ?? "null")
    })
  }
  return { folder, run, remove: () => rm(folder, { recursive: true, force: true }) }
}

/** Checks that every quote is in its document at the cited offsets. */
export const checkAnswer = async (folder: string, answer: Answer): Promise<void> => {
  expect(answer.found).toBe(true)
  expect(answer.trace.passages.filter(({ kept }) => kept)).toHaveLength(3)
  const markdown = answer.citations.filter(({ document }) => document.endsWith(".md"))
  expect(markdown.length).toBeGreaterThan(0)
  for (const { document, end, quote, start } of markdown) {
    const text = await readFile(join(folder, "docs", document), "utf8")
    expect(text.slice(start, end)).toBe(quote)
  }
}
