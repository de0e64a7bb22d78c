/** What a gateway says of a failure, wherever in a body it says it. */
import { Predicate } from "effect"
import { QUOTA_CODES, reasonOfStatus } from "../../contract/Failure.ts"
import type { GatewayReason } from "../../contract/GatewayError.ts"

export interface ErrorDetails {
  readonly message: string | undefined
  readonly param: string | undefined
  readonly code: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Longer messages are cut: a page of HTML is no message. */
const MESSAGE_LENGTH = 400
/** A field's name, or a code. */
const WORD_LENGTH = 120

/** On one line, without what a terminal or a log would take for its own. */
const word = (value: unknown, length = WORD_LENGTH): string | undefined => {
  if (typeof value !== "string") return undefined
  const plain = value
    .slice(0, length)
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, " ")
    .trim()
  return plain === "" ? undefined : plain
}

const messageOf = (value: unknown): string | undefined => word(value, MESSAGE_LENGTH)

/** `code` and `type` are words, numbers, or missing, as each gateway likes. */
const codeOf = ({ code, type }: Fields): string | undefined =>
  typeof code === "number" ? String(code) : (word(code) ?? word(type))

const firstOf = (list: unknown): Fields | undefined =>
  Array.isArray(list) && Predicate.isObject(list[0]) ? list[0] : undefined

/** A list of faults, FastAPI's `detail` or another's `errors`: the first of them says enough. */
const listed = (first: Fields): ErrorDetails => {
  const { loc, message, msg } = first
  const param = Array.isArray(loc) ? loc.slice(1).join(".") : undefined
  return { message: messageOf(msg) ?? messageOf(message), param: word(param), code: codeOf(first) }
}

/**
 * Error bodies as they are met: `{error: {…}}`, `{error: "…"}`, `{message}`, `{code, message, data}`, `{msg}`,
 * `{detail}`, `{errors: […]}`, `{success: false}`, and any of them alone in a list.
 *
 * Undefined when the body is nothing of the kind. No field is believed to have the type it should have.
 */
export const parseErrorBody = (answer: unknown): ErrorDetails | undefined => {
  const body = Predicate.isObject(answer) ? answer : firstOf(answer)
  if (body === undefined) return undefined
  const { detail, error, errors, message, msg, success } = body
  if (Predicate.isObject(error)) {
    return {
      message: messageOf(error["message"]) ?? messageOf(message),
      param: word(error["param"]),
      code: codeOf(error)
    }
  }
  const said = messageOf(error) ?? messageOf(message) ?? messageOf(msg) ?? messageOf(detail)
  if (said !== undefined) return { message: said, param: word(body["param"]), code: codeOf(body) }
  const fault = firstOf(detail) ?? firstOf(errors)
  if (fault !== undefined) return listed(fault)
  return success === false ? { message: undefined, param: undefined, code: codeOf(body) } : undefined
}

/** Whether an `error` says something: some gateways send an empty one, or one of code 0, where there is none. */
export const parseErrorField = (error: unknown): ErrorDetails | undefined => {
  const told = parseErrorBody({ error })
  if (told === undefined || told.code === "0") return undefined
  return told.message === undefined && told.code === undefined ? undefined : told
}

/** The reason of a failure that came with status 200, or in the middle of a stream: its code is all there is. */
export const reasonOfErrorDetails = ({ code, message, param }: ErrorDetails): GatewayReason => {
  const number = Number(code)
  const named = QUOTA_CODES.has(code ?? "") ? 402 : (STATUS_OF.get(code ?? "") ?? 502)
  const status = Number.isInteger(number) && number >= 400 && number < 600 ? number : named
  return reasonOfStatus({
    status,
    message: message ?? "The gateway failed and did not say why.",
    param,
    code
  })
}

const STATUS_OF: ReadonlyMap<string, number> = new Map([
  ["rate_limit_error", 429],
  ["rate_limited", 429],
  ["rate_limit_exceeded", 429],
  ["invalid_request_error", 400],
  ["content_policy_violation", 400],
  ["content_filter", 400],
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["permission_error", 403]
])
