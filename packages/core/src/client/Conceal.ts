/** Keeps a credential out of errors, whatever the gateway echoed. */
import type { GatewayReason } from "../GatewayError.ts"

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

/** The reason with nothing of the credential in any of its texts, and something more to say, where there is. */
export const concealIn = (
  reason: GatewayReason,
  conceal: (text: string) => string,
  more = ""
): GatewayReason => {
  const fields = Object.entries({ ...reason, message: reason.message + more })
  const Reason = reason.constructor as new (fields: object) => GatewayReason
  return new Reason(
    Object.fromEntries(
      fields.map(([name, value]) => [
        name,
        typeof value === "string" && name !== "_tag" ? conceal(value) : value
      ])
    )
  )
}
