/**
 * How eight families of models stream an answer to the default prompt: the fields around the text are those of the recorded
 * streams that their SDKs, servers and clients publish (Vercel's AI SDK, openai-go, Ollama); the text answers our prompt as a
 * model of the family usually does.
 */
import { assert, describe, it } from "@effect/vitest"
import { apiKey, GatewayReader, Reader } from "@sluice/core"
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

const FAMILIES: ReadonlyArray<readonly [family: string, chunks: ReadonlyArray<Chunk>]> = [
  [
    "GPT",
    [
      chunk({ role: "assistant", content: "", refusal: null }, { usage: null }, { logprobs: null }),
      ...parts(OBJECT).map((content) => chunk({ content }, { usage: null, obfuscation: "x1" })),
      ended({}, { usage: null }),
      usageOnly()
    ]
  ],
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
    "DeepSeek",
    [
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      ...parts(THOUGHT).map((text) => chunk({ content: null, reasoning_content: text })),
      ...parts(OBJECT).map((content) => chunk({ content, reasoning_content: null })),
      ended({ content: "", reasoning_content: null }, { usage: USAGE })
    ]
  ],
  [
    "Qwen, thinking in its text",
    [
      chunk({ role: "assistant", content: "" }, { usage: null, system_fingerprint: null }),
      ...parts(`<think>\n${THOUGHT}\n</think>\n\n${OBJECT}`).map((content) => chunk({ content })),
      ended({ content: "", reasoning_content: null }),
      usageOnly()
    ]
  ],
  [
    "Mistral, with content in parts",
    [
      chunk({ role: "assistant", content: "" }),
      ...parts(THOUGHT).map((text) =>
        chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text }] }] })
      ),
      ...parts(OBJECT).map((text) => chunk({ content: [{ type: "text", text }] })),
      ended({ content: "" }, { usage: USAGE })
    ]
  ],
  [
    "Llama, with usage in a field of the server's own",
    [
      chunk({ role: "assistant", content: "" }, { x_groq: { id: "req_1" } }),
      ...parts(OBJECT.replaceAll('"passage":1', '"passage":"[1]"')).map((content) => chunk({ content })),
      ended({}, { x_groq: { id: "req_1", usage: USAGE } })
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

const Readers = Layer.unwrap(
  Effect.map(LoopbackGateway, ({ url: baseUrl }) =>
    Layer.provide(GatewayReader.layer({ model: "c" }), GatewayClient.layer({ baseUrl, apiKey: apiKey("k") }))
  )
).pipe(Layer.provideMerge(LoopbackGateway.layer))

describe("the default prompt reads the stream of", () => {
  it.effect.each(FAMILIES)("%s", ([, chunks]) =>
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
})
