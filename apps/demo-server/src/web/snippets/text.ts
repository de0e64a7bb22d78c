/** The calls about texts, as curl and as a program. */
import type { ChatMessage } from "../api/gateway.ts"
import { post } from "./curl.ts"
import { program } from "./program.ts"
import type { Snippet } from "./Snippet.ts"
import { source } from "./literal.ts"

export const embedSnippet = (
  origin: string,
  call: { readonly model: string; readonly input: ReadonlyArray<string> }
): Snippet => ({
  curl: post(`${origin}/v1/embeddings`, call),
  effect: program({
    origin,
    effect: ["Console"],
    before: `const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)`,
    body: `const { vectors } = yield* gateway.embeddings(${source(call)})
const [a = new Float32Array(), b = new Float32Array()] = vectors
yield* Console.log(dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)))`
  })
})

export const rerankSnippet = (
  origin: string,
  call: { readonly model: string; readonly query: string; readonly documents: ReadonlyArray<string> }
): Snippet => ({
  curl: post(`${origin}/v1/rerank`, call),
  effect: program({
    origin,
    effect: ["Console"],
    before: `const documents = ${source(call.documents)}`,
    body: `const { results } = yield* gateway.rerank({
  model: ${source(call.model)},
  query: ${source(call.query)},
  documents
})
for (const { index, score } of results) {
  yield* Console.log(score.toFixed(3), documents[index])
}`
  })
})

export const chatSnippet = (
  origin: string,
  call: { readonly model: string; readonly messages: ReadonlyArray<ChatMessage> }
): Snippet => ({
  curl: post(`${origin}/v1/chat/completions`, { ...call, stream: true }, "-N"),
  effect: program({
    origin,
    effect: ["Stream"],
    body: `const parts = gateway.chatStream(${source(call)})
yield* Stream.runForEach(parts, (part) =>
  Effect.sync(() => process.stdout.write(part.type === "text" ? part.text : "\\n"))
)`
  })
})
