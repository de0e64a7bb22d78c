/** The calls of the playground as code. */
import type { ChatRequest, EmbeddingRequest, RerankRequest } from "@sluice/core/contract"
import { curlGet, curlPost } from "./curl.ts"
import { literal, programText, type Snippet } from "./program.ts"

export const embedSnippet = (origin: string, call: EmbeddingRequest): Snippet => ({
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

export const rerankSnippet = (origin: string, call: RerankRequest): Snippet => ({
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

export const chatSnippet = (origin: string, call: ChatRequest): Snippet => ({
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

interface MediaCall {
  readonly model: string
  /** The model's group; it is not sent. */
  readonly group: string | undefined
  readonly prompt: string
  readonly picture: string | undefined
  readonly size?: string | undefined
}

/** The client knows these groups by name; another one is left out. */
const knownGroup = (group: string | undefined, known: RegExp): string | undefined =>
  group !== undefined && known.test(group) ? group : undefined

const fileAt = (path: string | undefined) => (path === undefined ? undefined : { file: path })

export const imageSnippet = (
  origin: string,
  { group, model, n, picture, prompt, size }: MediaCall & { readonly n?: number | undefined }
): Snippet => {
  const url = `${origin}/v1/images/generations`
  const call = { model, prompt, size, n }
  const later = `\n\n# If the response has an id, the images appear here later:\n# ${curlGet(`${url}/$ID`)}`
  const request = literal({ group: knownGroup(group, /^I[1-6]$/), ...call, image: fileAt(picture) })
  return {
    curl: curlPost(url, { ...call, image: fileAt(picture) }) + (group === "I5" ? later : ""),
    effect: programText({
      origin,
      body: `const { images } = yield* gateway.images.generate(${request})
for (const [at, image] of images.entries()) {
  yield* gateway.images.save(image, \`image-\${at + 1}.png\`)
}`
    })
  }
}

export const videoSnippet = (
  origin: string,
  { group, model, picture, prompt, seconds, size }: MediaCall & { readonly seconds?: string | undefined }
): Snippet => {
  const url = `${origin}/v1/videos`
  const call = { model, prompt, seconds, size }
  const known = knownGroup(group, /^(V-[A-G]|image-to-video)$/)
  const request = literal({ group: known, ...call, inputReference: fileAt(picture) })
  return {
    curl: `${curlPost(url, { ...call, input_reference: fileAt(picture) }, "-s", "-o task.json")}

cat task.json; echo
ID=$(sed -n 's/.*"id": *"\\([^"]*\\)".*/\\1/p' task.json)
while ${curlGet(`${url}/$ID`, "-s")} |
  tee task.json | grep -E '"status": *"(queued|in_progress)"'
do sleep 5; done
cat task.json; echo
${curlGet(`${url}/$ID/content`, "-f", "-o film.mp4")}`,
    effect: programText({
      origin,
      effect: ["Console"],
      body: `const { id } = yield* gateway.videos.generate(${request}, { every: "5 seconds" })
const { bytes } = yield* gateway.videos.download(id, "film.mp4")
yield* Console.log(\`film.mp4: \${bytes} bytes\`)`
    })
  }
}

export const lookSnippet = (
  origin: string,
  { detail, model, picture, question }: Record<"model" | "question" | "picture" | "detail", string>
): Snippet => {
  const image = { type: "image_url", image_url: { url: { file: picture }, detail } }
  const messages = [{ role: "user", content: [{ type: "text", text: question }, image] }]
  return {
    curl: curlPost(`${origin}/v1/chat/completions`, { model, messages }),
    effect: programText({
      origin,
      effect: ["Console"],
      sendsImage: true,
      body: `const picture = ${literal({ file: picture })}
const message = yield* userMessage(${literal(question)}, [picture], ${literal(detail)})
const { text } = yield* gateway.chat({ model: ${literal(model)}, messages: [message] })
yield* Console.log(text)`
    })
  }
}
