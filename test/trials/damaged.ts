/** Damages files, and checks that a damaged one is parsed into a valid document or refused with a reason. */
import { Effect, Exit } from "effect"
import type { Random } from "../../bench/corpus/Random.ts"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"
import { zip, type ZipPart } from "../rag/ZipWriter.ts"
import { must } from "./Trial.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Flips bits and cuts, repeats or overwrites ranges, a few times, anywhere or at the start. */
export const damaged = (random: Random, whole: Uint8Array): Uint8Array => {
  let bytes = Uint8Array.from(whole)
  for (let times = random.between(1, 8); times > 0 && bytes.length > 1; times--) {
    const most = bytes.length - 1
    const at = random.between(0, random.next() < 0.3 ? Math.min(most, 200) : most)
    const length = Math.min(bytes.length - at, random.between(1, 64))
    switch (random.between(0, 5)) {
      case 0:
        bytes = bytes.slice(0, Math.max(1, at))
        break
      case 1:
        bytes = Uint8Array.from([...bytes.subarray(0, at), ...bytes.subarray(at + length)])
        break
      case 2:
        bytes = Uint8Array.from([...bytes.subarray(0, at + length), ...bytes.subarray(at)])
        break
      case 3:
        bytes.fill(random.pick([0, 0xff, 0x3c, 0x80]), at, at + length)
        break
      default:
        bytes[at] = bytes[at]! ^ (1 << random.between(0, 7))
    }
  }
  return bytes
}

/** Damages a container: the whole file, one part inside it, or two parts by exchanging them. */
export const damagedContainer = (random: Random, parts: ReadonlyArray<ZipPart>): Uint8Array => {
  const way = random.next()
  if (way < 0.4 || parts.length === 0) return damaged(random, zip(parts))
  const inner = random.between(0, parts.length - 1)
  const other = random.between(0, parts.length - 1)
  const isExchanged = way > 0.9
  return zip(
    parts.map((part, at) => {
      if (isExchanged && at === inner) return { ...part, content: parts[other]!.content }
      if (isExchanged && at === other) return { ...part, content: parts[inner]!.content }
      if (at !== inner) return part
      const { content } = part
      return { ...part, content: damaged(random, typeof content === "string" ? utf8(content) : content) }
    })
  )
}

/** Reasons for which a damaged document may be rejected. */
const REASONS = new Set(["Malformed", "Empty", "TooLarge", "Encrypted", "UnsupportedFormat"])

/** Whether the file was parsed. Throws if it died, broke an invariant, or was refused for another reason. */
export const parsedOrRefused = async (file: Parameters<typeof parse>[0]): Promise<boolean> => {
  const { path } = file
  const exit = await Effect.runPromiseExit(Effect.result(parse(file)))
  must(Exit.isSuccess(exit), () => `${path} died: ${String(exit)}`)
  const result = exit.value
  if (result._tag === "Failure") {
    const { message, reason } = result.failure
    must(REASONS.has(reason), () => `${path} was refused as ${reason}: ${message}`)
    must(message.startsWith(`${path}: `), () => `the message names no file: ${message}`)
    return false
  }
  const law = brokenLaw(result.success)
  must(law === undefined, () => `${path}: ${law}`)
  for (const { end, start, text } of chunk(result.success)) {
    must(result.success.text.slice(start, end) === text, () => `${path}: a passage is not its span`)
  }
  return true
}
