/** Kling: images and videos, as tasks. */
import { createHmac } from "node:crypto"
import { klingImages, klingVideos } from "../media/klingMedia.ts"
import { idAt } from "../media/MediaResponse.ts"
import type { Dialect, ErrorFields } from "../protocol/Dialect.ts"

const TOKEN_SECONDS = 1800
/** The vendor's clock may be behind. */
const CLOCK_SECONDS = 5

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url")

/** The bearer token: the key itself, or one signed by the pair `accessKey:secretKey` that older accounts have. */
const tokenOf = (key: string): string => {
  const [accessKey, secretKey] = key.split(":")
  if (secretKey === undefined) return key
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: accessKey, exp: now + TOKEN_SECONDS, nbf: now - CLOCK_SECONDS }
  const signed = `${encode({ alg: "HS256", typ: "JWT" })}.${encode(claims)}`
  return `${signed}.${createHmac("sha256", secretKey).update(signed).digest("base64url")}`
}

/** The vendor's codes that its statuses do not tell. */
const CODES: Readonly<Record<string, Pick<ErrorFields, "code" | "status">>> = {
  "1101": { code: "insufficient_quota", status: 402 },
  "1102": { code: "insufficient_quota", status: 402 },
  "1300": { code: "content_policy_violation" },
  "1301": { code: "content_policy_violation" }
}

export const kling = {
  id: "kling",
  name: "Kling",
  url: "https://api-singapore.klingai.com",
  keyVariable: "KLINGAI_API_KEY",
  sign: (key) => ({ authorization: `Bearer ${tokenOf(key)}` }),
  operations: {
    images: klingImages,
    videos: klingVideos
  },
  error: (body) => {
    const [code = "", message] = [idAt(body, "code"), idAt(body, "message")]
    const [field] = /\b(?:aspect_ratio|resolution|mode|duration|image)\b/.exec(message ?? "") ?? []
    return message === undefined ? undefined : { message, param: field, code, ...CODES[code] }
  },
  fieldNames: { aspect_ratio: "size", resolution: "size", mode: "size", duration: "seconds" }
} as const satisfies Dialect
