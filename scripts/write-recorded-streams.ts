/**
 * Writes `test/core/recorded-streams.jsonl`: the beginning, some middle and the end of chat streams that Vercel's AI SDK recorded
 * from providers and publishes as fixtures (github.com/vercel/ai, Apache-2.0).
 *
 * ```sh
 * node scripts/write-recorded-streams.ts --data DIR
 * ```
 *
 * DIR is a checkout of it. Nothing of a chunk is changed.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Chunks of each kind that are taken. */
const MOST = 3

const STREAMS = {
  GPT: "openai/src/chat/__fixtures__/openai-text",
  "GPT, by Azure": "openai/src/chat/__fixtures__/azure-model-router.1",
  DeepSeek: "deepseek/src/chat/__fixtures__/deepseek-reasoning",
  "DeepSeek, by Azure": "azure/src/__fixtures__/azure-deepseek-reasoning.1",
  Qwen: "alibaba/src/__fixtures__/alibaba-reasoning",
  "Qwen, by Groq": "groq/src/__fixtures__/groq-reasoning",
  Llama: "groq/src/__fixtures__/groq-text",
  Mistral: "mistral/src/__fixtures__/mistral-text",
  "Mistral, with content in parts": "mistral/src/__fixtures__/mistral-reasoning",
  Grok: "openai-compatible/src/chat/__fixtures__/xai-text",
  Kimi: "moonshotai/src/__fixtures__/moonshotai-stream",
  Sonar: "perplexity/src/__fixtures__/perplexity-text"
} as const

interface Chunk {
  readonly choices: ReadonlyArray<{
    readonly delta?: Readonly<Record<string, unknown>>
    readonly finish_reason?: string | null
  }>
}

const data = process.argv[process.argv.indexOf("--data") + 1] ?? ""

const kindOf = ({ choices: [choice] }: Chunk): string => {
  const { content, reasoning, reasoning_content } = choice?.delta ?? {}
  if (reasoning || reasoning_content || JSON.stringify(content)?.includes('"thinking"')) return "thought"
  return content ? "text" : "frame"
}

/** Each chunk once that begins or ends the stream, and the first of the others. */
const shorten = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<Chunk> => {
  const end = chunks.findIndex(({ choices: [choice] }) => typeof choice?.finish_reason === "string")
  const counts = new Map<string, number>()
  return chunks.filter((chunk, i) => {
    const kind = kindOf(chunk)
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    return count <= MOST || i >= end
  })
}

const lines = Object.entries(STREAMS).map(([family, name]) => {
  const path = `packages/${name}.chunks.txt`
  const chunks = readFileSync(join(data, path), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Chunk)
  return `${JSON.stringify({ family, source: `vercel/ai ${path}`, chunks: shorten(chunks) })}\n`
})
writeFileSync(join(import.meta.dirname, "../test/core/recorded-streams.jsonl"), lines.join(""))
