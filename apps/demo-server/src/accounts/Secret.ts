/** Secrets: made from a CSPRNG, kept as SHA-256, compared in constant time. */
import { createHash, hash, randomInt, timingSafeEqual } from "node:crypto"

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

/** 48 characters of 62, about 285 bits: no dictionary helps, so a plain hash is enough at rest. */
const SECRET_LENGTH = 48

/** A new secret. The prefix tells people, and scanners of leaked keys, what it is. */
export const makeSecret = (prefix: string): string =>
  prefix + Array.from({ length: SECRET_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("")

/** SHA-256, hexadecimal: what is written to disk. */
export const hashSecret = (secret: string): string => hash("sha256", secret)

/** Whether a candidate hashes to it, in a time that tells nothing about how much of it is right. */
export const matchesSecret = (candidate: string, hash: string): boolean => {
  const expected = Buffer.from(hash, "hex")
  const given = createHash("sha256").update(candidate).digest()
  return expected.length === given.length && timingSafeEqual(expected, given)
}

/** A new API key: opens `/v1` and the documents. */
export const makeApiKey = (): string => makeSecret("sk-")

/** A new system access token: opens `/api`. */
export const makeSystemToken = (): string => makeSecret("sat-")

/** What is shown of a key where it is listed: enough to tell two apart, far too little to guess the rest. */
export const shownOf = (key: string): string => `${key.slice(0, 7)}**********${key.slice(-4)}`
