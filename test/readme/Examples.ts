/** The TypeScript examples of README.md, as they stand there. */
import MarkdownIt from "markdown-it"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface Example {
  /** Line of README.md. */
  readonly line: number
  readonly code: string
}

const readme = join(import.meta.dirname, "../../README.md")

/** Every block fenced as `ts`, in order. */
export const examples: ReadonlyArray<Example> = new MarkdownIt()
  .parse(readFileSync(readme, "utf8"), {})
  .filter(({ info, type }) => type === "fence" && info.trim() === "ts")
  .map(({ content, map }) => ({ line: (map?.[0] ?? 0) + 1, code: content }))

/** The first one is the shortest program: a folder of documents, a question, an answer. */
export const shortest = examples[0]?.code ?? ""

/** The documents that the examples speak of as `./docs`. */
export const docs = join(import.meta.dirname, "../../apps/demo-server/samples")
