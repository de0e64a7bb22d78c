/** Hostile calls of one user: those that once stopped the server, and those of what came later. */
import { bytesOf } from "../trials/containerMonsters.ts"
import { monsters } from "../trials/monsters.ts"

export type Call = (
  path: string,
  body?: unknown,
  method?: string
) => Promise<{ readonly status: number; readonly text: string }>

interface Row {
  readonly name: string
  /** Makes what is sent, which is not measured. The function calls, and returns the status. */
  readonly prepare: () => (call: Call) => Promise<string>
}

const MB = 1_000_000

/** Distinct words. */
const words = (characters: number, from = 0): string => {
  const parts: Array<string> = []
  for (let length = 0, i = from; length < characters; i++)
    length += parts[parts.push(`w${i.toString(36)}`) - 1]!.length + 1
  return parts.join(" ")
}

const outcome = async (response: ReturnType<Call>): Promise<string> => String((await response).status)

type Content = string | Uint8Array<ArrayBuffer>

/** Uploads files into a collection of their own, calls with it, and removes it. */
const withFiles = (
  files: ReadonlyArray<readonly [path: string, content: Content]>,
  then: (call: Call, collection: string) => Promise<string> = () => Promise.resolve("")
) => {
  const collection = "attack"
  const form = new FormData()
  for (const [path, content] of files) form.append("files", new Blob([content]), path)
  return async (call: Call): Promise<string> => {
    const added = await call(`/documents?collection=${collection}`, form)
    const { error, failed } = JSON.parse(added.text)
    const status = error?.code ?? (failed?.length > 0 ? failed[0].reason : String(added.status))
    const later = await then(call, collection)
    await call(`/collections/${collection}`, undefined, "DELETE")
    return `${status}${later === "" ? "" : ` ${later}`}`
  }
}

const withFile = (
  path: string,
  content: Content,
  then?: (call: Call, collection: string) => Promise<string>
) => withFiles([[path, content]], then)

const file = (name: string, path: string, content: () => Content): Row => ({
  name,
  prepare: () => withFile(path, content())
})

/** A generated file of a size in MB. */
const monster = (name: string, megabytes: number): Row => {
  const { make, path } = monsters.find((one) => one.name === name)!
  return file(`${name}, ${megabytes} MB`, path, () => Buffer.from(bytesOf(path, make(megabytes * MB))))
}

const post = (name: string, path: string, body: () => unknown): Row => ({
  name,
  prepare: () => {
    const json = JSON.stringify(body())
    return (call) => outcome(call(path, json))
  }
})

const rerank = (characters: number, documents: number): Row =>
  post(`rerank: ${characters / 1000} K of words × ${documents}`, "/v1/rerank", () => ({
    model: "sluice-lexical-rerank",
    query: words(characters),
    documents: Array.from({ length: documents }, (_, i) => words(400, i))
  }))

const chat = (name: string, messages: () => ReadonlyArray<string>): Row =>
  post(`chat: ${name}`, "/v1/chat/completions", () => ({
    model: "sluice-extractive",
    messages: messages().map((content) => ({ role: "user", content }))
  }))

/** Prose of distinct sentences, in paragraphs. */
const prose = (size: number): string => {
  const parts: Array<string> = ["# Gates\n"]
  for (let length = 0, i = 0; length < size; i++) {
    const text = `The ${words(30, 7 * i)} of gate ${i} opens at ${i % 24} and its keeper says that it is open.${i % 4 === 3 ? "\n\n" : " "}`
    length += parts[parts.push(text) - 1]!.length
  }
  return parts.join("")
}

const table = (rows: number, row: (i: number) => string): string =>
  `Name,Length\n${Array.from({ length: rows }, (_, i) => row(i)).join("\n")}\n`

const ask =
  (question: string, more: object = {}) =>
  (call: Call, collection: string): Promise<string> =>
    outcome(call("/qa", { question, collection, ...more }))

export const rows: ReadonlyArray<Row> = [
  rerank(500_000, 1000),
  rerank(160_000, 10),
  rerank(4_000, 1000),
  {
    name: "/qa with recall and keep 100, a question of 10 K",
    prepare: () => withFile("a.md", prose(2 * MB), ask(words(10_000), { recall: 100, keep: 100 }))
  },
  monster("md: tiny items", 16),
  monster("md: tiny items", 4),
  monster("md: a long heading", 1.4),
  file(
    "html: a title of 1 MB",
    "a.html",
    () => `<title>${"a".repeat(MB)}</title>${"<h2>a</h2><p>b b b b".repeat(500)}`
  ),
  monster("html: rowspan", 3),
  monster("html: alternative texts", 0.4),
  ...["numbered lines", "pipes", "headings", "setext headings", "fences", "newlines"].map((name) =>
    monster(`md: ${name}`, 4)
  ),
  file("md: Figure 1 and 200,000 spaces", "a.md", () => `Figure 1 ${" ".repeat(200_000)}x\n\nsee Figure 1\n`),
  chat("“how much does” × 300,000", () => ["how much does ".repeat(300_000)]),
  chat("40,000 messages of one word", () => Array.from({ length: 40_000 }, () => "gate")),
  chat("19,000 messages of one word", () => Array.from({ length: 19_000 }, () => "gate")),
  post("chat: a field with a name of 30 MB", "/v1/chat/completions", () => ({
    model: "sluice-extractive",
    ["x".repeat(30 * MB)]: 1,
    messages: [{ role: "user", content: "gate?" }]
  })),
  post("chat: tools of 30 MB", "/v1/chat/completions", () => ({
    model: "sluice-extractive",
    tools: Array.from({ length: 2_000 }, () => ({ type: "function", description: "a ".repeat(7_500) })),
    messages: [{ role: "user", content: "gate?" }]
  })),
  post("embeddings: 2,000 texts of 4,000", "/v1/embeddings", () => ({
    model: "sluice-lexical-1024",
    input: Array.from({ length: 2_000 }, (_, i) => words(4_000, i))
  })),
  {
    name: "200 md of 32 KB of image starts",
    prepare: () => withFiles(Array.from({ length: 200 }, (_, i) => [`${i}.md`, "![".repeat(16_000 + i)]))
  },
  monster("csv: rows", 8),
  monster("xlsx: cells at the last column", 4),
  monster("ods: repeated rows", 4),
  monster("mbox: messages", 8),
  monster("eml: addresses", 8),
  monster("eml: parts in parts", 8),
  monster("ipynb: cells", 8),
  monster("srt: cues", 8),
  monster("jsonl: records", 8),
  // More than 10,000 files, and 100 MB, are refused.
  monster("zip: files", 0.018),
  monster("zip: files", 0.05),
  file("a text of 60 MB", "a.txt", () => Buffer.alloc(60 * MB, "the gate of the lock\n")),
  monster("xlsx: rows of words", 40),
  file("an upload of 130 MB", "a.txt", () => Buffer.alloc(130 * MB, "a b\n")),
  monster("pptx: shapes", 8),
  monster("odt: pictures", 8),
  monster("epub: headings", 8),
  {
    name: "a summary of 8 MB of prose",
    prepare: () =>
      withFile("a.md", prose(8 * MB), (own, collection) =>
        outcome(own("/summary", { collection, sentences: 50, tokens: 2_000_000 }))
      )
  },
  {
    name: "a summary of the best of 8 MB",
    prepare: () =>
      withFile("a.md", prose(8 * MB), (own, collection) =>
        outcome(own("/summary", { collection, tokens: 500_000 }))
      )
  },
  {
    name: "the sum of 45,000 rows",
    prepare: () =>
      withFile(
        "a.csv",
        table(45_000, (i) => `g${i},${i}`),
        ask("What is the sum of the length?")
      )
  },
  {
    name: "the sum of a column with 500,000 decimals",
    prepare: () =>
      withFile(
        "a.csv",
        table(2_000, (i) => `g${i},${i === 0 ? `1.${"3".repeat(500_000)}` : i}`),
        ask("What is the sum of the length?")
      )
  },
  {
    name: "a conversation of long follow-ups",
    prepare: () => async (call) => {
      const first = await call("/qa", { question: "What is the toll of gate 3?", conversation: "new" })
      const { conversation } = JSON.parse(first.text)
      const statuses = [
        "a".repeat(10_000),
        "and ".repeat(2_500),
        "他们".repeat(5_000),
        "difference in ".repeat(700)
      ].map((question) => outcome(call("/qa", { question, conversation: conversation?.id ?? "new" })))
      return (await Promise.all(statuses)).join(" ")
    }
  },
  {
    name: "a conversation of 100 wide answers, read",
    prepare: () =>
      withFile("a.md", prose(2 * MB), async (own, collection) => {
        const asked = { collection, recall: 100, keep: 100 }
        const first = await own("/qa", { question: "When is gate 0 open?", conversation: "new", ...asked })
        const { id } = JSON.parse(first.text).conversation
        for (let i = 1; i < 100; i++)
          await own("/qa", { question: `When is gate ${i} open?`, conversation: id, ...asked })
        const statuses = [
          await outcome(own(`/conversations/${id}`, undefined, "GET")),
          await outcome(own(`/conversations/${id}/export?format=html`, undefined, "GET"))
        ]
        await own(`/conversations/${id}`, undefined, "DELETE")
        return statuses.join(" ")
      })
  }
]
