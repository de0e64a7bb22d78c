/** The calls about pictures and films, as curl and as a program. */
import { FileHere, get, post } from "./curl.ts"
import { program } from "./program.ts"
import type { Snippet } from "./Snippet.ts"
import { source } from "./literal.ts"

interface Made {
  readonly model: string
  /** As the list of models says; it is not sent. */
  readonly group: string | undefined
  readonly prompt: string
  /** The name of a picture's file. */
  readonly picture: string | undefined
  readonly size?: string | undefined
}

/** Groups that the program may name; any other is left out. */
const named = (group: string | undefined, known: RegExp): string | undefined =>
  group !== undefined && known.test(group) ? group : undefined

/** A file as curl sends it, and as the client takes it. */
const inBody = (path: string | undefined) => (path === undefined ? undefined : new FileHere(path))
const inCall = (path: string | undefined) => (path === undefined ? undefined : { file: path })

export const imageSnippet = (
  origin: string,
  { group, model, n, picture, prompt, size }: Made & { readonly n?: number | undefined }
): Snippet => {
  const url = `${origin}/v1/images/generations`
  const call = { model, prompt, size, n }
  const later = `\n\n# Where it answers with an id, the images are here later:\n# ${get(`${url}/$ID`)}`
  const made = source({ group: named(group, /^I[1-6]$/), ...call, image: inCall(picture) })
  return {
    curl: post(url, { ...call, image: inBody(picture) }) + (group === "I5" ? later : ""),
    effect: program({
      origin,
      body: `const { images } = yield* gateway.images.generate(${made})
for (const [at, image] of images.entries()) {
  yield* gateway.images.save(image, \`image-\${at + 1}.png\`)
}`
    })
  }
}

export const videoSnippet = (
  origin: string,
  { group, model, picture, prompt, seconds, size }: Made & { readonly seconds?: string | undefined }
): Snippet => {
  const url = `${origin}/v1/videos`
  const call = { model, prompt, seconds, size }
  const made = source(
    { group: named(group, /^(V-[A-G]|image-to-video)$/), ...call, inputReference: inCall(picture) },
    2
  )
  return {
    curl: `${post(url, { ...call, input_reference: inBody(picture) }, "-s", "-o task.json")}

cat task.json; echo
ID=$(sed -n 's/.*"id": *"\\([^"]*\\)".*/\\1/p' task.json)
while ${get(`${url}/$ID`, "-s")} |
  tee task.json | grep -E '"status": *"(queued|in_progress)"'
do sleep 5; done
cat task.json; echo
${get(`${url}/$ID/content`, "-f", "-o film.mp4")}`,
    effect: program({
      origin,
      effect: ["Console"],
      body: `const { id } = yield* gateway.videos.generate(
  ${made},
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
  const image = { type: "image_url", image_url: { url: new FileHere(picture), detail } }
  const messages = [{ role: "user", content: [{ type: "text", text: question }, image] }]
  return {
    curl: post(`${origin}/v1/chat/completions`, { model, messages }),
    effect: program({
      origin,
      core: ["userMessage"],
      effect: ["Console"],
      readsFiles: true,
      body: `const picture = ${source({ file: picture })}
const message = yield* userMessage(${source(question)}, [picture], ${source(detail)})
const { text } = yield* gateway.chat({ model: ${source(model)}, messages: [message] })
yield* Console.log(text)`
    })
  }
}
