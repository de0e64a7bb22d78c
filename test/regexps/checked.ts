/** What `recheck` said about each expression: `checked.jsonl`, a line for each, in order. */
import { readFileSync, writeFileSync } from "node:fs"
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

/** A text that takes the most time: each part has its `pump` as often as needed. */
export interface Attack {
  readonly pumps: ReadonlyArray<{ readonly prefix: string; readonly pump: string }>
  readonly suffix: string
}

export interface RecheckResult {
  readonly status: "safe" | "vulnerable" | "unknown"
  readonly complexity?: { readonly summary: string }
  readonly attack?: Attack
}

export interface Checked {
  readonly status: RecheckResult["status"]
  readonly complexity?: string
  readonly attack?: Attack
}

const FILE = join(import.meta.dirname, "checked.jsonl")

export const readChecked = (): Map<string, Checked> =>
  new Map(
    readFileSync(FILE, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => {
        const { expression, ...checked } = JSON.parse(line)
        return [expression, checked]
      })
  )

export const writeChecked = (all: ReadonlyMap<string, Checked>): void =>
  writeFileSync(
    FILE,
    [...all]
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([expression, checked]) => `${JSON.stringify({ expression, ...checked })}\n`)
      .join("")
  )

export const splitExpression = (expression: string): { readonly source: string; readonly flags: string } => {
  const end = expression.lastIndexOf("/")
  return { source: expression.slice(1, end), flags: expression.slice(end + 1) }
}

/** Differences and intersections of classes, which `recheck` cannot read, as their first part: it matches more. */
const withoutSetOperations = (source: string): string => {
  const simpler = source.replaceAll(
    /\[\[([^[\]]*)\](?:--|&&)(?:\\p\{\w+\}|\[[^[\]]*\])\]/g,
    (_, first: string) => `[${first}]`
  )
  return simpler === source ? source : withoutSetOperations(simpler)
}

/** Milliseconds after which an expression is undecided, and its process is ended. */
const LIMIT = 30_000

/** Checks expressions by the `recheck` of a folder, each within a limit of time. `keep` gets each result. */
export const recheckAll = async (
  folder: string,
  expressions: ReadonlyArray<string>,
  keep: (expression: string, checked: Checked) => void
): Promise<void> => {
  const left = [...expressions]
  const work = async (): Promise<void> => {
    const start = () => fork(join(import.meta.dirname, "recheckThread.ts"), [folder])
    let child = start()
    for (let expression = left.shift(); expression !== undefined; expression = left.shift()) {
      const { flags, source } = splitExpression(expression)
      child.send({
        source: flags.includes("v") ? withoutSetOperations(source) : source,
        flags: flags.replace("v", "u")
      })
      const result: RecheckResult | undefined = await once(child, "message", {
        signal: AbortSignal.timeout(LIMIT)
      }).then(
        ([message]) => message,
        () => undefined
      )
      if (result === undefined) {
        child.kill("SIGKILL")
        child = start()
      }
      const { attack, complexity, status = "unknown" } = result ?? {}
      keep(expression, {
        status,
        ...(status !== "safe" && complexity !== undefined && { complexity: complexity.summary }),
        ...(attack !== undefined && {
          attack: { pumps: attack.pumps.map(({ prefix, pump }) => ({ prefix, pump })), suffix: attack.suffix }
        })
      })
    }
    child.disconnect()
  }
  await Promise.all([work(), work()])
}
