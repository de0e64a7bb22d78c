/** `POST /v1/chat/completions`. */
import { Effect, Option, Schema } from "effect"
import { Sse } from "effect/encoding"
import { ChatEvent, DONE } from "../../contract/Chat.ts"
import type { Answer } from "../framework/Ask.ts"
import { check } from "../framework/Check.ts"
import { at, fault } from "../framework/Json.ts"
import { wantsModel } from "../framework/Models.ts"
import { ours, promised } from "../framework/Rule.ts"
import { GIF, JPEG, PNG, WEBP } from "./ChatImages.ts"

/** Room for a model that thinks before it answers in a word. */
const MAX_TOKENS = 512
const SECTION = "Chat message with images"

const request = (model: string | undefined, content: unknown) => ({
  body: { model, messages: [{ role: "user", content }], max_tokens: MAX_TOKENS }
})

const textFault = ({ json }: Answer) =>
  fault(typeof at(json, "choices", 0, "message", "content") === "string", "there is no text")

/** A model may spend all that it is allowed before the first word: then there is no text to judge. */
const isSpent = ({ json }: Answer) => {
  const content = at(json, "choices", 0, "message", "content") ?? ""
  return content === "" && at(json, "choices", 0, "finish_reason") === "length"
}
const SPENT = `the model spent all of ${MAX_TOKENS} tokens before its first word`

/** Tokens of the answer; some gateways count what a model thinks besides, and limit only what it says. */
const tokensOf = ({ json }: Answer): number | undefined => {
  const tokens = at(json, "usage", "completion_tokens")
  const thought = at(json, "usage", "completion_tokens_details", "reasoning_tokens")
  return typeof tokens === "number" ? tokens - (typeof thought === "number" ? thought : 0) : undefined
}

const image = (url: string, detail: string) => ({ type: "image_url", image_url: { url, detail } })
const question = { type: "text", text: "Name the colour in one word." }

const decodeData = Schema.decodeUnknownOption(ChatEvent.fields.data)

/** What is wrong with a stream of events, as far as the contract says it. */
const streamFault = ({ headers, text }: Answer): string | undefined => {
  const type = headers["content-type"] ?? "not labelled"
  if (!type.startsWith("text/event-stream")) return `the answer is ${type}`
  const data: Array<string> = []
  const parser = Sse.makeParser((event) => {
    if (event._tag === "Event") data.push(event.data)
  })
  parser.feed(text)
  const wrong = data.filter((one) => Option.isNone(decodeData(one)))
  if (wrong.length > 0) return `${wrong.length} of ${data.length} events are no chunks`
  return fault(data.at(-1) === DONE, `its last event is not ${DONE}`)
}

export const chat = check({
  call: "POST /v1/chat/completions",
  needs: "paid",
  section: "Endpoints › Image understanding",
  form: promised(SECTION, "the answer has `choices` with a message"),
  model: "chat",
  request: wantsModel("chat", (model) => request(model, "Name the colour of grass in one word.")),
  rules: {
    text: promised(SECTION, "the answer's text is at choices[0].message.content"),
    maxTokens: promised(SECTION, "the answer has at most `max_tokens` tokens"),
    images: promised(SECTION, "a message of text and several images, PNG, JPEG and WEBP, is answered"),
    gif: promised("Limits", "a GIF image is refused"),
    stream: ours(
      "Endpoints › Image understanding",
      "`stream: true` is answered with events of chunks, the last one [DONE]"
    )
  },
  run: Effect.fnUntraced(function* ({ answer, judge, refuses, session, skip, succeeds }) {
    const model = session.models.chat
    if (isSpent(answer)) skip("text", SPENT)
    else judge("text", textFault(answer))
    const tokens = tokensOf(answer)
    if (tokens === undefined) skip("maxTokens", "the gateway does not count the answer's tokens")
    else judge("maxTokens", fault(tokens <= MAX_TOKENS, `${tokens} tokens where ${MAX_TOKENS} were allowed`))
    const parts = [question, image(PNG, "low"), image(JPEG, "auto"), image(WEBP, "high")]
    let sees = true
    if (textFault(answer) !== undefined && !isSpent(answer)) skip("images", "the model answers without text")
    else {
      const told = (seen: Answer) => (isSpent(seen) ? undefined : textFault(seen))
      const seen = yield* succeeds("images", request(model, parts), told, { triesModel: true })
      sees = seen !== undefined
    }
    if (sees) yield* refuses("gif", request(model, [question, image(GIF, "low")]))
    else skip("gif", "the model answers no images")
    const streamed = request(model, "Name the colour of grass in one word.")
    yield* succeeds("stream", { body: { ...streamed.body, stream: true } }, streamFault)
  })
})
