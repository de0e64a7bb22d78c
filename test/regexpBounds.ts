/** Why regular expressions that may take more than linear time do not block the process. See `regexps.ts`. */

/** By the beginning of the file's path. */
const FILES: Readonly<Record<string, string>> = {
  "packages/rag/src/formats/": "runs in the pool, or on at most 32 KiB",
  "packages/rag/src/chunking/": "runs in the pool, or on at most 32 KiB",
  "packages/embedded/src/reader/": "runs in the pool, or on at most 16,000 characters and a question of 500",
  "packages/embedded/src/lexical/": "runs in the pool, or on at most 50,000 characters and a query of 500",
  "packages/core/src/conversation/GatewayRewriter.ts": "at most 2,000 characters of a response",
  "packages/core/src/conversation/": "at most 600 characters of a question",
  "packages/rag/src/answering/SplitQuestion.ts": "at most 400 characters of a question",
  "packages/rag/src/tables/": "at most 400 characters of a question, a column's name or a label",
  "packages/rag/src/summary/": "a sentence of at most 400 characters, or linear",
  "packages/core/src/readers/SpokenOutcome.ts": "linear: at most 60 characters after a word",
  "packages/core/src/readers/LenientJson.ts": "linear: the next 80 characters, or what always matches",
  "packages/core/src/client/transport/ErrorDetails.ts": "linear: at most 30 characters after a word",
  "packages/core/src/client/transport/WebPage.ts": "the first 4,096 characters of a page",
  "packages/providers/src/media/MediaResponse.ts": "linear: at most 80 characters after a word",
  "packages/rag/src/evaluation/": "reads the program's own files",
  "packages/core/src/conformance/": "reads a gateway that the program chose to test",
  "apps/demo-server/src/web/playground/Tab.tsx": "linear: a string that begins always matches",
  "apps/demo-server/src/web/markdown/inline.ts":
    "a text of 100,000 characters, and constructs of 2,000: .4 s of processor time at worst, in the tab",
  "apps/demo-server/src/cli/": "reads the arguments of the command line",
  "apps/demo-server/src/config/": "reads the environment",
  "apps/demo-server/src/providers/": "reads the providers file"
}

export const boundedFile = (file: string): string | undefined =>
  Object.entries(FILES).find(([prefix]) => file.startsWith(prefix))?.[1]

const UNDECIDED = "linear: no part can match what the part beside it matches. `recheck` does not decide it"

const TIMED = "linear: timed at 1, 2, 4 and 8 times the attack that `recheck` found by chance"

const CLOSED =
  "linear: what begins with a quote is read to the quote that closes it, or to the end, and not again"

/** By the expression. */
export const bounded: Readonly<Record<string, string>> = {
  [String.raw`/(?<=\})[\s,\]]+$/`]: "linear: a match begins after a brace only",
  [String.raw`/(?<=\})[\s,]*(?=\{\s*"text"\s*:)/`]: "linear: a match begins after a brace only",
  [String.raw`/\{\s*["'“](?=(?:text|sentence|sentences|answer|answered|claim|citations)["'”]\s*:)/`]:
    "linear: a match begins at a brace only",
  [String.raw`/(?<!\s)\s*\[(\d+(?:\s*,\s*\d+)*)\]|^\s*\[(\d+(?:\s*,\s*\d+)*)\]/g`]:
    "linear: a match does not begin within spaces",
  [String.raw`/([.!?。！？])((?:\s*\[[\d\s,]+\])+)/g`]: "linear: a match begins at the end of a sentence",
  [String.raw`/(?<!\s)\s*(?:\[\s*(?:…|\.{3})\s*\]|\(\s*(?:…|\.{3})\s*\)|…+|\.{3,})\s*/`]: TIMED,
  [String.raw`/!?\[(?<label>(?:[^[\]\n]|\[[^[\]\n]*\])*)\]\((?:[^()\s]|\([^()\s]*\))*\)|[-+](?<=^[^\S\n]{0,20}[-+])(?=[^\S\n])/gm`]:
    TIMED,
  [String.raw`/(?<!\s)\s*(?:\[[\d\s,]*|\{\s*["'“]?\w*)$/`]: TIMED,
  [String.raw`/\b(?:not|no|never|none|neither|nor|without|cannot|nobody|nothing|nowhere|kein\w*|nicht|nie|ohne|jamais|sans|aucun\w*|ningún|ninguna?|nunca|sin)\b|n['’]t\b|\b(?:ne|n['’])\s?\w+\s+pas\b|[不没沒无無未非勿]|(?:ない|ません|않|없)/i`]:
    TIMED,
  [String.raw`/\b(?:der|die|das|und|ist|ein|eine|nicht|von|mit|für)\b.*\b(?:der|die|das|und|ist|ein|eine|nicht|von|mit|für)\b/`]:
    "at most 2,000 characters of a sentence",
  [String.raw`/^(?:o[1-9]|gpt-5)(?!.*chat)/`]: "linear: a match begins at the start only",
  [String.raw`/^(?:basic|bearer|key|token)\s+(?=.{16})/i`]: "linear: a match begins at the start only",
  ["/^(?:\\s+|`{3}[a-z]*\\s*(?:\\n|$)|\\[\\s*(?=\\{)|\\[\\s*\\]|[\\]},;]+)/i"]:
    "linear: a match begins at the start only",
  [String.raw`/(?<!\\)"id"\s*:\s*(\d{16,})/g`]: TIMED,
  [String.raw`/(?<=[\p{Ll}\p{N},;:]\s{1,3})\p{Lu}[\p{L}\p{N}’'-]{2,}/gu`]: TIMED,
  [String.raw`/(?<!\n)\n(?![^\S\n]*\n)/g`]: UNDECIDED,
  [String.raw`/(?<=[\p{Ll}\p{N},;]\s)\p{Lu}[\p{L}\p{M}]*/gu`]: UNDECIDED,
  [String.raw`/\B(?=(\d{3})+$)/g`]: "a number of at most 20 digits",
  [String.raw`/^\.+|\.+$/g`]: "a name of at most 120 characters",
  [String.raw`/^bearer +(.*)$/i`]: "a header of at most 16 KiB, without line ends",
  [String.raw`/\ban image: .* or \{ file: path \}/`]: "a message of this program",
  [String.raw`/[.!?…]*$/`]: "the message of an error, cut to 300 characters",
  [String.raw`/\/+$/`]: "an address from the configuration",
  [String.raw`/(\s*\[\d+\])+\s*$/`]: "a sentence of an answer",
  [String.raw`/(\s+#+|\n\s*(=+|-+))\s*$/`]: "the last 400 characters of a heading",
  [String.raw`/(?:^|[\n\t|:：.!?。！？])[\s"'“‘(*_-]*$/`]: "16 characters before a quote",
  [String.raw`/"(?:content|reasoning_content|reasoning|refusal|arguments|text)"\s*:\s*("[^"\\]*(?:\\.[^"\\]*)*")/g`]:
    CLOSED,
  [String.raw`/(?<=\n\s*)"([A-Za-z_$][\w$]*)":/g`]: "the playground's own request"
}
