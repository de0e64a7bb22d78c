/** Keeps a credential out of errors and spans, whatever the gateway echoed. */
import type { GatewayReason } from "../GatewayError.ts"
import type { Answer } from "./Answer.ts"

/** A shorter beginning is found in every other word, and betrays nothing. */
const BETRAYING = 8

/** Some gateways repeat the credential in their refusal, and a message that is cut may end within it. */
export const concealer = (secret: string) => {
  const head = secret.slice(0, BETRAYING)
  return (text: string): string => {
    if (head.length < BETRAYING) return text
    let shown = ""
    let from = 0
    for (let at = text.indexOf(head); at !== -1; at = text.indexOf(head, from)) {
      let length = head.length
      while (length < secret.length && text[at + length] === secret[length]) length++
      shown += `${text.slice(from, at)}<redacted>`
      from = at + length
    }
    return shown + text.slice(from)
  }
}

/** What a terminal or a log would take for its own, and halves of characters. */
const CONTROL = /[\p{Cc}\p{Cs}]+/gu

/** The reason with nothing of the credential in any of its texts, and something more to say, where there is. */
export const concealIn = (
  reason: GatewayReason,
  conceal: (text: string) => string,
  more = ""
): GatewayReason => {
  const message = reason.message.replace(CONTROL, " ") + more
  const fields = Object.entries({ ...reason, message })
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  return new Reason(
    Object.fromEntries(
      fields.map(([name, value]) => [name, name === "_tag" ? value : concealDeep(value, conceal)])
    )
  )
}

/** Deeper than any error that says something, and far from what ends a process. */
const DEPTH = 64

/** A task's `error` is JSON of any form; what is none (durations, vectors) carries no text. */
const concealDeep = (value: unknown, conceal: (text: string) => string, depth = DEPTH): unknown => {
  if (typeof value === "string") return conceal(value)
  const isPlain =
    Array.isArray(value) || (isObject(value) && Object.getPrototypeOf(value) === Object.prototype)
  if (!isPlain) return value
  if (depth === 0) return "…"
  if (Array.isArray(value)) return value.map((item) => concealDeep(item, conceal, depth - 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [conceal(name), concealDeep(item, conceal, depth - 1)])
  )
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

/** The same for what spans and metrics show of an answer; its value belongs to the caller. */
export const concealAnswer = <A>(answer: Answer<A>, conceal: (text: string) => string): Answer<A> => {
  const { facts, requestId, value } = answer
  return {
    value,
    requestId: requestId && conceal(requestId),
    ...(facts && {
      facts: { ...facts, id: facts.id && conceal(facts.id), model: facts.model && conceal(facts.model) }
    })
  }
}
