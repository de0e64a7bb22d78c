/** The TypeScript examples of README.md and other documents, verbatim. */
import MarkdownIt from "markdown-it"
import { readFileSync } from "node:fs"
import { join } from "node:path"

export interface Example {
  /** Line of the document. */
  readonly line: number
  readonly code: string
}

/** All `ts` code blocks of a document, in order. The path is relative to the root of the repository. */
export const examplesOf = (path: string): ReadonlyArray<Example> =>
  new MarkdownIt()
    .parse(readFileSync(join(import.meta.dirname, "../..", path), "utf8"), {})
    .filter(({ info, type }) => type === "fence" && info.trim() === "ts")
    .map(({ content, map }) => ({ line: (map?.[0] ?? 0) + 1, code: content }))

export const examples = examplesOf("README.md")

/** The first example: a folder of documents, a question, an answer. */
export const shortest = examples[0]?.code ?? ""

/** The documents that the examples call `./docs`. */
export const docs = join(import.meta.dirname, "../../apps/demo-server/samples")
