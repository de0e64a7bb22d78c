/** Calls with texts: embeddings, rerank and chat. */
import type { ChatMessage } from "@sluice/core/contract"
import { curlPost } from "./curl.ts"
import { literal, programText, type Snippet } from "./program.ts"

export const embedSnippet = (
  origin: string,
  call: { readonly model: string; readonly input: ReadonlyArray<string> }
): Snippet => ({
  curl: curlPost(`${origin}/v1/embeddings`, call),
  effect: programText({
    origin,
    effect: ["Console"],
    before: `const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, x, at) => sum + x * (b[at] ?? 0), 0)`,
    body: `const { vectors } = yield* gateway.embeddings(${literal(call)})
const [a = new Float32Array(), b = new Float32Array()] = vectors
yield* Console.log(dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b)))`
  })
})

export const rerankSnippet = (
  origin: string,
  call: { readonly model: string; readonly query: string; readonly documents: ReadonlyArray<string> }
): Snippet => ({
  curl: curlPost(`${origin}/v1/rerank`, call),
  effect: programText({
    origin,
    effect: ["Console"],
    before: `const documents = ${literal(call.documents)}`,
    body: `const { results } = yield* gateway.rerank({
  model: ${literal(call.model)},
  query: ${literal(call.query)},
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
  curl: curlPost(`${origin}/v1/chat/completions`, { ...call, stream: true }, "-N"),
  effect: programText({
    origin,
    effect: ["Stream"],
    body: `const parts = gateway.chatStream(${literal(call)})
yield* Stream.runForEach(parts, (part) =>
  Effect.sync(() => process.stdout.write(part.type === "text" ? part.text : "\\n"))
)`
  })
})
