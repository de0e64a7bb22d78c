/**
 * How families of models stream an answer to the default prompt. `recorded-streams.jsonl` has streams that Vercel's AI SDK recorded
 * from their providers (Apache-2.0): the chunks are theirs, and in the places of their text
 * they say what answers our prompt. No public stream was found for four more forms: those are ours.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { apiKey, Gateway, GatewayReader, Reader } from "@sluice/core"
import { GatewayClient } from "@sluice/core/client"
import { Effect, Layer, Stream } from "effect"
import { events, LoopbackGateway } from "./LoopbackGateway.ts"

const FEE = "Mooring a boat overnight costs twelve crowns."
const TIDE = "The harbour master measures the tide every hour."
const PASSAGES = [
  { title: "Fees", text: `# Fees\n\n${FEE} Children pay nothing.` },
  { title: "Tides", text: TIDE }
]
const THOUGHT = `The first passage says it: {"text":"not this"}. NOT_FOUND? No.`

/** The answer in the form that is asked for with a schema. */
const OBJECT = JSON.stringify({
  answered: true,
  sentences: [
    { text: "It costs twelve crowns.", citations: [{ passage: 1, quote: FEE }] },
    { text: "The tide is measured hourly.", citations: [{ passage: 2, quote: TIDE }] }
  ]
})

type Chunk = { readonly [field: string]: unknown }

const parts = (text: string): ReadonlyArray<string> => text.match(/.{1,9}/gsu) ?? []

const chunk = (delta: Chunk, more: Chunk = {}, choice: Chunk = {}): Chunk => ({
  id: "c-1",
  object: "chat.completion.chunk",
  created: 1769088912,
  choices: [{ index: 0, delta, finish_reason: null, ...choice }],
  ...more
})

const USAGE = { prompt_tokens: 400, completion_tokens: 90, total_tokens: 490 }
const ended = (delta: Chunk = {}, more: Chunk = {}) => chunk(delta, more, { finish_reason: "stop" })
const usageOnly = (more: Chunk = {}): Chunk => ({ id: "c-1", choices: [], usage: USAGE, ...more })

/** Streams in forms that we wrote: of endpoints without a public recording, and of models that break the protocol. */
const WRITTEN: ReadonlyArray<readonly [family: string, chunks: ReadonlyArray<Chunk>]> = [
  [
    "Claude, by a compatible endpoint",
    [
      chunk({ content: "", role: "assistant", refusal: null }, { id: "", usage: null }),
      ...parts(`Based on the passages:\n\n\`\`\`json\n${OBJECT}\n\`\`\``).map((content) =>
        chunk({ content, role: "assistant", refusal: null }, { id: "" })
      ),
      ended({ content: "", role: "assistant" }, { usage: USAGE })
    ]
  ],
  [
    "Gemini",
    [
      ...parts(OBJECT).map((content) =>
        chunk({ content, role: "assistant" }, { created: undefined, usage: USAGE })
      ),
      ended({ role: "assistant" }, { usage: USAGE })
    ]
  ],
  [
    "a model that thinks in its text",
    [
      chunk({ role: "assistant", content: "" }, { usage: null, system_fingerprint: null }),
      ...parts(`<think>\n${THOUGHT}\n</think>\n\n${OBJECT}`).map((content) => chunk({ content })),
      ended({ content: "", reasoning_content: null }),
      usageOnly()
    ]
  ],
  [
    "Gemma 2B, by Ollama, which breaks its JSON",
    parts(
      `Sure! Here is the answer:\n\`\`\`json\n{"answered": true, "sentences": [{"text": "It costs "twelve" crowns.", "citations": [{"passage": 1, "quote": "${FEE}"}],},\n{'text': 'The tide is measured hourly.', 'citations': [{'passage': 2, 'quote': '${TIDE}'}]\n\`\`\``
    )
      .map((content) => chunk({ role: "assistant", content }, { system_fingerprint: "fp_ollama" }))
      .concat(ended({ role: "assistant", content: "" }, { system_fingerprint: "fp_ollama" }))
  ],
  [
    "Phi, which writes one object and prose",
    [
      ...parts(
        `{"text": "It costs twelve crowns.", "citations": [1]}\n{"text": "The tide is measured every hour.", "citations": [{"passage": 2}]}\nI hope this helps!`
      ).map((content) => chunk({ content })),
      ended({ content: "" }, { usage: USAGE })
    ]
  ]
]

interface Recorded {
  readonly family: string
  readonly source: string
  readonly chunks: ReadonlyArray<Chunk>
}

const RECORDED = readFileSync(join(import.meta.dirname, "recorded-streams.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Recorded)

/** The texts of a chunk: what is read, and what is thought. */
const TEXT = /"(content|reasoning|reasoning_content|text)":"(?!")((?:[^"\\]|\\.)*)"/g

const isThought = (json: string): boolean => /"reasoning(?:_content)?":"[^"]|"thinking"/.test(json)

/** Other text in the places of a recorded one, chunk by chunk. The last text of the stream gets what is left. */
const say = (chunks: ReadonlyArray<Chunk>, text: string, thought: string): ReadonlyArray<Chunk> => {
  const lines = chunks.map((chunk) => JSON.stringify(chunk["choices"]))
  const kinds = lines.map((line) =>
    line.match(TEXT) === null ? "frame" : isThought(line) ? "thought" : "text"
  )
  const rest = { text: parts(text).slice(), thought: parts(thought).slice() }
  const left = {
    text: kinds.filter((kind) => kind === "text").length,
    thought: kinds.filter((kind) => kind === "thought").length
  }
  return chunks.flatMap((one, i) => {
    const kind = kinds[i]!
    if (kind === "frame") return [one]
    const isLast = --left[kind] === 0
    const pieces = rest[kind].splice(0, isLast ? rest[kind].length : 1)
    const choices = (piece: string) =>
      JSON.parse(
        lines[i]!.replace(TEXT, (_, name: string) => `"${name}":${JSON.stringify(piece)}`)
      ) as unknown
    // What ends the stream ends it once.
    const before = pieces.slice(0, -1).map((piece) => ({ ...one, choices: endless(choices(piece)) }))
    return [...before, { ...one, choices: choices(pieces.at(-1) ?? "") }]
  })
}

const endless = (choices: unknown): unknown =>
  (choices as ReadonlyArray<Chunk>).map((choice) => ({ ...choice, finish_reason: null }))

const Readers = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    Layer.provideMerge(
      GatewayReader.layer({ model: "c" }),
      GatewayClient.layer({ baseUrl, apiKey: apiKey("k") })
    )
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

describe("the default prompt reads the stream of", () => {
  const recorded = RECORDED.map(({ chunks, family }) => [family, say(chunks, OBJECT, THOUGHT)] as const)

  it.effect.each([...recorded, ...WRITTEN])("%s", ([, chunks]) =>
    Effect.gen(function* () {
      const { behave, seen } = yield* LoopbackGateway
      behave((_, response) => events(response, [...chunks, "[DONE]"]))
      const read = yield* Stream.runCollect((yield* Reader).read("What does mooring cost?", PASSAGES))
      const quotes = read.flatMap((part) =>
        part.type === undefined ? part.evidence.map(({ passage, quote }) => [passage, quote]) : []
      )
      assert.deepStrictEqual(quotes, [
        [0, FEE],
        [1, TIDE]
      ])
      assert.isUndefined(read.find((part) => part.type === "end")?.notRead)
      assert.strictEqual(seen.length, 1)
      assert.notInclude(JSON.stringify(read), "not this")
    }).pipe(Effect.provide(Readers))
  )

  it.effect.each(RECORDED)("$family, as it was recorded: its text, end and usage", ({ chunks }) =>
    Effect.gen(function* () {
      const { behave } = yield* LoopbackGateway
      behave((_, response) => events(response, [...chunks, "[DONE]"]))
      const messages = [{ role: "user" as const, content: "?" }]
      const read = yield* Stream.runCollect((yield* Gateway).chatStream({ model: "c", messages }))
      const text = read.map((part) => (part.type === "text" ? part.text : "")).join("")
      const said = chunks.flatMap((one) =>
        isThought(JSON.stringify(one["choices"]))
          ? []
          : [...JSON.stringify(one["choices"]).matchAll(TEXT)].map(([, , text]) => JSON.parse(`"${text}"`))
      )
      assert.strictEqual(text, said.join(""))
      const end = read.find((part) => part.type === "end")
      assert.strictEqual(end?.finishReason, "stop")
      assert.isAbove(end?.completionTokens ?? 0, 0)
    }).pipe(Effect.provide(Readers))
  )
})
