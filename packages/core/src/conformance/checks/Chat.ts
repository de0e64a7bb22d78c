/** `POST /v1/chat/completions`. */
import { Effect, Option, Schema } from "effect"
import { Sse } from "effect/encoding"
import { ChatEvent, DONE } from "../../contract/Chat.ts"
import { MAX_IMAGE_BYTES } from "../../contract/ImageLimits.ts"
import { LOW_DETAIL_TOKENS } from "../../media/ImageTokens.ts"
import type { GatewayResponse } from "../framework/Request.ts"
import { check, refuses, requiredFields } from "../framework/Check.ts"
import { modelRequest } from "../framework/Models.ts"
import { at, failUnless, interfaceRule, ownRule } from "../framework/Rule.ts"

/** Enough for a reasoning model that then answers in one word. */
const MAX_TOKENS = 512
const SECTION = "Chat message with images"
const ENDPOINT = "Endpoints › Image understanding"

/** A red square of 32 pixels in each format, and a GIF of one pixel. */
export const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAYAAABzenr0AAAAO0lEQVR4AezXsQkAQAgDwMdB3H+U30pHsBTkAunDdYmfWZuNtxwDCBAgQIAAAQIECBAgQIDAfYHpfDcAAAD//5CFChEAAAAGSURBVAMAKcBAoatfweEAAAAASUVORK5CYII="
/** The length of the data URI up to the end of the chunk with the image's size. */
const PNG_HEADER = "data:image/png;base64,".length + 44
const JPEG =
  "data:image/jpeg;base64,/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAgACADASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAT/xAAUEAEAAAAAAAAAAAAAAAAAAAAA/8QAFgEBAQEAAAAAAAAAAAAAAAAAAAQF/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AhATtgAAAAAB//9k="
const WEBP =
  "data:image/webp;base64,UklGRkIAAABXRUJQVlA4IDYAAAAQAwCdASogACAAPxGCuVWsKKWjKAgBgCIJZQDI1BanFAAA/uX6OkulzXP/cH6g/iCefF4MAAA="
const GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"

const request = (model: string | undefined, content: unknown) => ({
  body: { model, messages: [{ role: "user", content }], max_tokens: MAX_TOKENS }
})

const textFault = ({ json }: GatewayResponse) =>
  failUnless(typeof at(json, "choices", 0, "message", "content") === "string", "there is no text")

/** True if a reasoning model used all tokens before its first word: there is no text to judge. */
const areTokensSpent = ({ json }: GatewayResponse) => {
  const content = at(json, "choices", 0, "message", "content") ?? ""
  return content === "" && at(json, "choices", 0, "finish_reason") === "length"
}
const TOKENS_SPENT = `the model spent all of ${MAX_TOKENS} tokens before its first word`

/** Completion tokens without reasoning: some gateways count reasoning but limit only the text. */
const tokensOf = ({ json }: GatewayResponse): number | undefined => {
  const tokens = at(json, "usage", "completion_tokens")
  const reasoning = at(json, "usage", "completion_tokens_details", "reasoning_tokens")
  return typeof tokens === "number" ? tokens - (typeof reasoning === "number" ? reasoning : 0) : undefined
}

const image = (url: string, detail: string) => ({ type: "image_url", image_url: { url, detail } })
const PRIVATE = "http://127.0.0.1:9/image.png"
/** The tokens that may separate two parts. */
const SEPARATOR_TOKENS = 8
const question = { type: "text", text: "Name the colour in one word." }

const LOW = image(PNG, "low")
const IMAGE_RULES = ["low", "gif", "large", "detail", "noUrl", "privateUrl", "part"] as const

/** Messages with one part beside the question. */
const asking = (part: unknown) => ({ messages: [{ role: "user", content: [question, part] }] })

const promptTokensOf = ({ json }: GatewayResponse) => Number(at(json, "usage", "prompt_tokens"))

const decodeData = Schema.decodeUnknownOption(ChatEvent.fields.data)

/** What breaks the contract in a stream of events. */
const streamFault = ({ headers, text }: GatewayResponse): string | undefined => {
  const type = headers["content-type"] ?? "not labelled"
  if (!type.startsWith("text/event-stream")) return `the response is ${type}`
  const data: Array<string> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") data.push(event.data)
  })
  parser.feed(text)
  const invalid = data.filter((event) => Option.isNone(decodeData(event)))
  if (invalid.length > 0) return `${invalid.length} of ${data.length} events are not chunks`
  return failUnless(data.at(-1) === DONE, `its last event is not ${DONE}`)
}

export const chat = check({
  call: "POST /v1/chat/completions",
  needs: "paid",
  section: ENDPOINT,
  form: interfaceRule(SECTION, "the response has `choices` with a message"),
  model: "chat",
  request: modelRequest("chat", (model) => request(model, "Name the colour of grass in one word.")),
  rules: {
    text: interfaceRule(SECTION, "the response's text is at choices[0].message.content"),
    maxTokens: interfaceRule(SECTION, "the response has at most `max_tokens` tokens"),
    images: interfaceRule(SECTION, "a message of text and several images, PNG, JPEG and WEBP, is answered"),
    low: interfaceRule("Limits", `an image with \`detail\` low costs ${LOW_DETAIL_TOKENS} tokens`),
    stream: ownRule(ENDPOINT, "`stream: true` is answered with events of chunks, the last one [DONE]"),
    ...requiredFields(SECTION, "model", "messages"),
    wholeMaxTokens: refuses(SECTION, "`max_tokens` that is not an integer is refused", { max_tokens: "ten" }),
    gif: refuses("Limits", "a GIF image is refused", asking(image(GIF, "low"))),
    large: {
      ...interfaceRule("Limits", "an image above 20 MB is refused"),
      changes: () => [asking(image(PNG.slice(0, PNG_HEADER) + "AAAA".repeat(MAX_IMAGE_BYTES / 3), "low"))]
    },
    detail: refuses(SECTION, "another `detail` than low, high or auto is refused", asking(image(PNG, "hd"))),
    noUrl: refuses(
      SECTION,
      "an image without `url` is refused",
      asking({ type: "image_url", image_url: {} })
    ),
    privateUrl: refuses(SECTION, "a `url` that is not public is refused", asking(image(PRIVATE, "low"))),
    part: refuses(SECTION, "a part that is neither text nor image is refused", asking({ type: "hologram" }))
  },
  run: Effect.fnUntraced(function* ({ response, session, skip, ...context }) {
    const { expect, expectSuccess, judge } = context
    const model = session.models.chat
    if (areTokensSpent(response)) skip("text", TOKENS_SPENT)
    else judge("text", textFault(response))
    const tokens = tokensOf(response)
    if (tokens === undefined) skip("maxTokens", "the gateway does not count the response's tokens")
    else expect("maxTokens", tokens <= MAX_TOKENS, `${tokens} tokens where ${MAX_TOKENS} were allowed`)
    const parts = [question, image(PNG, "low"), image(JPEG, "auto"), image(WEBP, "high")]
    let acceptsImages = true
    if (textFault(response) !== undefined && !areTokensSpent(response))
      skip("images", "the model answers without text")
    else {
      const judgeText = (seen: GatewayResponse) => (areTokensSpent(seen) ? undefined : textFault(seen))
      const seen = yield* expectSuccess("images", request(model, parts), judgeText, { triesModel: true })
      acceptsImages = seen !== undefined
    }
    if (acceptsImages) {
      const one = yield* expectSuccess("low", request(model, [question, LOW]), () => undefined)
      const two = one && (yield* expectSuccess("low", request(model, [question, LOW, LOW]), () => undefined))
      const cost = one && two && promptTokensOf(two) - promptTokensOf(one)
      if (Number.isNaN(cost)) skip("low", "the gateway does not count the request's tokens")
      else if (cost !== undefined) {
        const isFixed = Math.abs(cost - LOW_DETAIL_TOKENS) <= SEPARATOR_TOKENS
        expect("low", isFixed, `a second one costs ${cost}`)
      }
    } else for (const rule of IMAGE_RULES) skip(rule, "the model accepts no images")
    const streamed = request(model, "Name the colour of grass in one word.")
    yield* expectSuccess("stream", { body: { ...streamed.body, stream: true } }, streamFault)
  })
})
