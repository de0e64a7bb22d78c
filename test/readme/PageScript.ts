/** A page of the documentation as one shell script, so that its blocks run in turn as a reader runs them. */
import MarkdownIt from "markdown-it"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const RUN = /^(?:ts|sh)\b/

/** Why a block is not run: ```` ```sh not-run: needs a container engine ````. */
const NOT_RUN = /^(?:ts|sh) not-run: (\S.*)$/

/** The name of a file that a later block runs: ```` ```ts [ask.ts] ````. */
const NAMED = /^ts \[([\w./-]+)\]$/

interface Block {
  readonly line: number
  readonly info: string
  readonly code: string
  /** Indented code has no language, so that nobody knows whether to run it. */
  readonly isFenced: boolean
}

export interface Page {
  readonly blocks: ReadonlyArray<Block>
  /** Reasons why blocks are not run. */
  readonly notRun: ReadonlyArray<string>
  /** Undefined if there is nothing to run. */
  readonly script: string | undefined
}

const heredoc = (name: string, code: string) =>
  `mkdir -p "$(dirname '${name}')"\ncat > '${name}' <<'END_OF_BLOCK'\n${code}END_OF_BLOCK\n`

/** Reads a page. The path is relative to the root of the repository. */
export const readPage = (path: string): Page => {
  const blocks = new MarkdownIt()
    .parse(readFileSync(join(import.meta.dirname, "../..", path), "utf8"), {})
    .filter(({ type }) => type === "fence" || type === "code_block")
    .map(({ content, info, map, type }) => ({
      line: (map?.[0] ?? 0) + 1,
      info: info.trim(),
      code: content,
      isFenced: type === "fence"
    }))
  const notRun = blocks.flatMap(({ info }) => NOT_RUN.exec(info)?.[1] ?? [])
  const steps = blocks
    .filter(({ info }) => RUN.test(info) && !NOT_RUN.test(info))
    .map(({ code, info, line }) => {
      const name = NAMED.exec(info)?.[1]
      const said = `echo "${path}:${line}" >&2\n`
      if (name !== undefined) return `${said}${heredoc(name, code)}`
      return info.startsWith("sh")
        ? `${said}${code}`
        : `${said}${heredoc(`line${line}.ts`, code)}node line${line}.ts\n`
    })
  return { blocks, notRun, script: steps.length === 0 ? undefined : `set -euo pipefail\n${steps.join("")}` }
}
