/** Finds the message and the code of an error in a response body of any known form. */
import { Predicate } from "effect"
import { CONTENT_CODES, QUOTA_CODES, reasonOfStatus } from "../../contract/Failure.ts"
import type { GatewayReason } from "../../contract/GatewayError.ts"

export interface ErrorDetails {
  readonly message: string | undefined
  readonly param: string | undefined
  readonly code: string | undefined
}

type Fields = Readonly<Record<string, unknown>>

/** Longer messages are cut: they may be whole HTML pages. */
const MESSAGE_LENGTH = 400
/** Longer field names and codes are cut. */
const WORD_LENGTH = 120

/** A text on one line, without control characters. */
const plainText = (value: unknown, length = WORD_LENGTH): string | undefined => {
  if (typeof value !== "string") return undefined
  const plain = value
    .slice(0, length)
    .replace(/[\s\p{Cc}\p{Cs}]+/gu, " ")
    .trim()
  return plain === "" ? undefined : plain
}

const messageOf = (value: unknown): string | undefined => plainText(value, MESSAGE_LENGTH)

/** `code` or `type`. Gateways use texts or numbers. */
const codeOf = ({ code, type }: Fields): string | undefined =>
  typeof code === "number" ? String(code) : (plainText(code) ?? plainText(type))

const firstOf = (list: unknown): Fields | undefined =>
  Array.isArray(list) && Predicate.isObject(list[0]) ? list[0] : undefined

/** An entry of FastAPI's `detail` or of `errors`. */
const listedError = (first: Fields): ErrorDetails => {
  const { loc, message, msg } = first
  const param = Array.isArray(loc) ? loc.slice(1).join(".") : undefined
  return { message: messageOf(msg) ?? messageOf(message), param: plainText(param), code: codeOf(first) }
}

/**
 * The error in a body, or undefined if it has none of the known forms.
 *
 * `{error: {…}}`, `{error: "…"}`, `{message}`, `{code, message, data}`, `{msg}`, `{detail}`, `{errors: […]}`,
 * `{success: false}`, one of them as `message`, and each of them as the only entry of a list. Every field may have another type.
 */
export const parseErrorBody = (json: unknown): ErrorDetails | undefined => {
  const body = Predicate.isObject(json) ? json : firstOf(json)
  if (body === undefined) return undefined
  const { detail, error, errors, message, msg, success } = body
  if (Predicate.isObject(error)) {
    const { metadata } = error
    // OpenRouter's own message names no cause.
    const raw = Predicate.isObject(metadata) ? messageOf(metadata["raw"]) : undefined
    const given = messageOf(error["message"]) ?? messageOf(message)
    return {
      message: raw === undefined ? given : messageOf(`${given}: ${raw}`),
      param: plainText(error["param"]),
      code: codeOf(error)
    }
  }
  if (Predicate.isObject(message)) return parseErrorBody(message)
  const text = messageOf(error) ?? messageOf(message) ?? messageOf(msg) ?? messageOf(detail)
  if (text !== undefined) return { message: text, param: plainText(body["param"]), code: codeOf(body) }
  const first = firstOf(detail) ?? firstOf(errors)
  if (first !== undefined) return listedError(first)
  return success === false ? { message: undefined, param: undefined, code: codeOf(body) } : undefined
}

/** The details of an `error` field. Some gateways send an empty error, or one of code 0, on success. */
export const parseErrorField = (error: unknown): ErrorDetails | undefined => {
  const details = parseErrorBody({ error })
  const isEmpty = details?.message === undefined && details?.code === undefined
  return isEmpty || details.code === "0" ? undefined : details
}

/** Whether a body of any form says that its call failed. */
export const isRefused = (body: unknown): boolean =>
  Predicate.isObject(body) && (body["success"] === false || parseErrorField(body["error"]) !== undefined)

const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map([
  ["rate_limit_error", 429],
  ["rate_limited", 429],
  ["rate_limit_exceeded", 429],
  ["invalid_request_error", 400],
  ["invalid_request", 400],
  ["authentication_error", 401],
  ["invalid_api_key", 401],
  ["invalid_token", 401],
  ["permission_error", 403],
  ...[...CONTENT_CODES].map((code) => [code, 400] as const)
])

/** What messages without a status and a code say, in the words of one-api's family and of vendors. The first one counts. */
const MESSAGES: ReadonlyArray<readonly [says: RegExp, status: number, code?: string]> = [
  [
    /(?:insufficient|exceeded|not enough|exhausted|out of|used up).{0,30}(?:quota|balance|credit|funds)/i,
    402
  ],
  [/(?:quota|balance|credits?|funds).{0,30}(?:insufficient|exceeded|not enough|exhausted|used up)/i, 402],
  [/余额不足|额度不足|额度已?用[尽完]|欠费/, 402],
  [
    /content.{0,3}(?:policy|filter|moderation)|moderat|safety system|sensitive (?:word|content)/i,
    400,
    "content_filter"
  ],
  [/违规|敏感|审核|风控/, 400, "content_filter"],
  [/rate.?limit|too many requests|过于频繁/i, 429],
  [/unauthori[sz]ed|not logged in|(?:invalid|expired|disabled).{0,9}(?:api.?key|token|credential)/i, 401],
  [/(?:api.?key|token|credential).{0,9}(?:invalid|expired|disabled)/i, 401],
  [/(?:token|令牌|密钥).{0,9}(?:无效|過期|过期|禁用|無效)|无效的令牌|未登录|封禁/i, 401],
  [
    /(?:invalid|missing|malformed) (?:request|param|argument|value|field|json|name)|is required|too long/i,
    400
  ],
  [/无效的参数|参数(?:错误|无效)|不能为空|过长/, 400]
]

/**
 * The reason of an error without a status of its own: sent with status 200, or in a stream. Its code decides, else its
 * message, else `otherwise`.
 */
export const reasonOfErrorDetails = (
  { code = "", message, param }: ErrorDetails,
  otherwise = 502
): Exclude<GatewayReason, { readonly _tag: "PartialFailure" }> => {
  const number = Number(code)
  const named = QUOTA_CODES.has(code) ? 402 : STATUS_OF_CODE.get(code)
  const status = Number.isInteger(number) && number >= 400 && number < 600 ? number : named
  const text = message ?? "The gateway failed and did not say why."
  const [, said, meaning] = (status === undefined && MESSAGES.find(([says]) => says.test(text))) || []
  return reasonOfStatus({
    status: status ?? said ?? otherwise,
    message: text,
    param,
    code: meaning ?? (code || undefined)
  })
}

/** The reason of the error beside a result: an answer that broke off has what was written before. */
export const reasonOfErrorBeside = (json: unknown): GatewayReason | undefined => {
  const details = Predicate.isObject(json) ? parseErrorField(json["error"]) : undefined
  return details && reasonOfErrorDetails(details)
}

/** The reason of the error in a body, or undefined if it has none of the known forms. */
export const reasonOfBody = (json: unknown): GatewayReason | undefined => {
  const details = parseErrorBody(json)
  return details && reasonOfErrorDetails(details)
}
