/**
 * Why regular expressions that take more than linear time do not block the process: their texts have a bound. `main.ts`
 * verifies that the worst text of that length takes few steps.
 */

export interface Bound {
  readonly why: string
  /** Characters of the longest text. */
  readonly characters: number
  /** Longer texts are read in the pool, within its limit of time. */
  readonly pooled?: true
}

/** By the beginning of the file's path: the longest text that its expressions read in the thread that answers. */
const FILES: Readonly<Record<string, Bound>> = {
  "packages/rag/src/formats/": { why: "a file", characters: 8_192, pooled: true },
  "packages/embedded/src/reader/QuestionType.ts": { why: "what is read of a question", characters: 4_000 },
  "packages/embedded/src/reader/": { why: "passages of a question", characters: 16_600, pooled: true },
  "packages/core/src/sentences/": { why: "passages of a question", characters: 16_600, pooled: true },
  "packages/core/src/conversation/CarrySubject.ts": { why: "what is read of a question", characters: 400 },
  "packages/core/src/conversation/FollowUp.ts": { why: "what is read of a question", characters: 400 },
  "packages/core/src/conversation/FollowUpScore.ts": { why: "what is read of a question", characters: 600 },
  "packages/core/src/conversation/GatewayRewriter.ts": { why: "a rewritten question", characters: 2_000 },
  "packages/core/src/client/transport/WebPage.ts": { why: "the beginning of a page", characters: 4_096 },
  "packages/rag/src/answering/SplitQuestion.ts": { why: "what is read of a question", characters: 400 },
  "packages/rag/src/tables/": { why: "a question, the name of a column, or a label", characters: 400 },
  "packages/rag/src/summary/": { why: "a sentence of a summary", characters: 400 }
}

/** By the expression. */
const EXPRESSIONS: Readonly<Record<string, Bound>> = {
  [String.raw`/"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|\[(?!(?:h+|m+|s+)\])[^\]]*\]|[_*]./gi`]: {
    why: "the format of a number",
    characters: 255
  },
  [String.raw`/^([^0#?.,E/]*)([0#?.,]+)([^0#?E/]*)$/`]: { why: "the format of a number", characters: 255 },
  [String.raw`/<meta[^>]+charset\s*=\s*["']?\s*([\w-]+)/i`]: { why: "the first kilobyte", characters: 1_024 },
  [String.raw`/^\s*(?:\(?(?:cont(?:inued|['’]?d|\.)?|fortsetzung|suite|continuación|续|續)\s*(?:[.:)）]|$)|（[续續]|[:：|│．。、]|\.(?=\s|$)|\)\s*[:.]?|[.:]?\s*[–—]|\s-\s)/iu`]:
    { why: "what follows a label", characters: 200 },
  [String.raw`/^\s*[)）】\]]?[*_]{0,3}\s*(?:[:：.。．|、—–]|-\s)[*_]{0,3}\s*/u`]: {
    why: "what follows a label",
    characters: 200
  },
  [String.raw`/^([^\d+\-−.,]*)([+\-−]?\d[\d.,\s]*)([^\d]*)$/u`]: {
    why: "a number with its unit",
    characters: 80
  },
  [String.raw`/(?:^|[\n\t|：。！？]|(?<!\d):|[.!?]\s)[\s"'“‘(*_-]*$/`]: {
    why: "what stands before a quote",
    characters: 16
  },
  [String.raw`/^\n\s*(?:[}\]]|,?\s*["'“‘][^"'”’\n]{1,40}["'”’]\s*:|\{\s*["'“])/`]: {
    why: "what follows a quote in JSON",
    characters: 80
  },
  [String.raw`/[.!?…]*$/`]: { why: "the message of an error", characters: 300 },
  [String.raw`/\B(?=(\d{3})+$)/g`]: { why: "a number", characters: 20 },
  [String.raw`/\ban image: .* or \{ file: path \}/`]: { why: "a message of this program", characters: 2_000 },
  [String.raw`/(\s+#+|\n\s*(=+|-+))\s*$/`]: { why: "the end of a heading", characters: 400 },
  [String.raw`/\n[|\s:-]*-{3}[|\s:-]*(?=\n|$)/g`]: { why: "a passage", characters: 6_000 }
}

/** The bound of the texts of an expression, which is in some files. */
export const boundOf = (expression: string, files: ReadonlySet<string>): Bound | undefined => {
  const own = EXPRESSIONS[expression]
  if (own !== undefined) return own
  const bounds = [...files].map(
    (file) => Object.entries(FILES).find(([prefix]) => file.startsWith(prefix))?.[1]
  )
  if (bounds.includes(undefined)) return undefined
  // Of several files, the longest text counts.
  return bounds.toSorted((a, b) => b!.characters - a!.characters)[0]
}
