/** Calls with images and videos. */
import { curlGet, curlPost, FileReference } from "./curl.ts"
import { literal, programText, type Snippet } from "./program.ts"

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

/** A file in the body of curl, and in a call of the client. */
const inBody = (path: string | undefined) => (path === undefined ? undefined : new FileReference(path))
const inCall = (path: string | undefined) => (path === undefined ? undefined : { file: path })

export const imageSnippet = (
  origin: string,
  { group, model, n, picture, prompt, size }: MediaCall & { readonly n?: number | undefined }
): Snippet => {
  const url = `${origin}/v1/images/generations`
  const call = { model, prompt, size, n }
  const later = `\n\n# If the response has an id, the images appear here later:\n# ${curlGet(`${url}/$ID`)}`
  const request = literal({ group: knownGroup(group, /^I[1-6]$/), ...call, image: inCall(picture) })
  return {
    curl: curlPost(url, { ...call, image: inBody(picture) }) + (group === "I5" ? later : ""),
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
  const request = literal(
    { group: knownGroup(group, /^(V-[A-G]|image-to-video)$/), ...call, inputReference: inCall(picture) },
    2
  )
  return {
    curl: `${curlPost(url, { ...call, input_reference: inBody(picture) }, "-s", "-o task.json")}

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
      body: `const { id } = yield* gateway.videos.generate(
  ${request},
  { every: "5 seconds" }
)
const { bytes } = yield* gateway.videos.download(id, "film.mp4")
yield* Console.log(\`film.mp4: \${bytes} bytes\`)`
    })
  }
}

export const lookSnippet = (
  origin: string,
  call: {
    readonly model: string
    readonly question: string
    readonly picture: string
    readonly detail: "auto" | "low" | "high"
  }
): Snippet => {
  const { detail, model, picture, question } = call
  const image = { type: "image_url", image_url: { url: new FileReference(picture), detail } }
  const messages = [{ role: "user", content: [{ type: "text", text: question }, image] }]
  return {
    curl: curlPost(`${origin}/v1/chat/completions`, { model, messages }),
    effect: programText({
      origin,
      core: ["userMessage"],
      effect: ["Console"],
      readsFiles: true,
      body: `const picture = ${literal({ file: picture })}
const message = yield* userMessage(${literal(question)}, [picture], ${literal(detail)})
const { text } = yield* gateway.chat({ model: ${literal(model)}, messages: [message] })
yield* Console.log(text)`
    })
  }
}
