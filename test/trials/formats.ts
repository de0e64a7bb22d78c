/** Damaged documents of every format: each is parsed into a valid document or rejected with a reason. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit } from "effect"
import sharp from "sharp"
import type { Random } from "../../bench/corpus/Random.ts"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { docxParts } from "../rag/DocxWriter.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"
import { randomDocxBody, randomHtmlFigures, randomMarkdownFigures } from "../rag/RandomDocument.ts"
import { zip } from "../rag/ZipWriter.ts"
import { must, type Trial } from "./Trial.ts"

const chart = readFileSync(join(import.meta.dirname, "../embedded/fixtures/boats.png"))
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)

/** Flips bits and cuts, repeats or overwrites ranges, a few times, anywhere or at the start. */
const damaged = (random: Random, whole: Uint8Array): Uint8Array => {
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

let encoded: Promise<{ readonly jpeg: Uint8Array; readonly webp: Uint8Array }> | undefined
const images = () =>
  (encoded ??= (async () => ({
    jpeg: await sharp(chart)
      .withExif({ IFD0: { Copyright: "x" } })
      .jpeg()
      .toBuffer(),
    webp: await sharp(chart).webp().toBuffer()
  }))())

/** Damages a document of a format: the whole file, or one part inside it. */
const makers = {
  docx: (random: Random): Uint8Array => {
    const parts = docxParts(randomDocxBody(random.between(1, 1e6)), { pictures: { p0: chart } })
    const inner = random.pick([
      "word/document.xml",
      "word/styles.xml",
      "word/numbering.xml",
      "word/_rels/document.xml.rels",
      "_rels/.rels",
      "word/media/p0.png"
    ])
    return random.next() < 0.4
      ? damaged(random, zip(parts))
      : zip(
          parts.map((part) => {
            if (part.name !== inner) return part
            const bytes = typeof part.content === "string" ? utf8(part.content) : part.content
            return { ...part, content: damaged(random, bytes) }
          })
        )
  },
  html: (random: Random) => damaged(random, utf8(randomHtmlFigures(random.between(1, 1e6)))),
  md: (random: Random) => damaged(random, utf8(randomMarkdownFigures(random.between(1, 1e6)))),
  png: (random: Random) => damaged(random, chart),
  jpg: async (random: Random) => damaged(random, (await images()).jpeg),
  webp: async (random: Random) => damaged(random, (await images()).webp)
}
const endings = ["docx", "docx", "docx", "html", "md", "png", "jpg", "webp"] as const

/** Reasons for which a damaged document may be rejected. */
const REASONS = new Set(["Malformed", "Empty", "TooLarge", "Encrypted", "UnsupportedFormat"])

export const formats: Trial = async (random) => {
  const ending = random.pick(endings)
  const bytes = await makers[ending](random)
  const picture = () => Effect.succeed(damaged(random, chart))
  const exit = await Effect.runPromiseExit(
    Effect.result(parse({ path: `damaged.${ending}`, bytes, picture }))
  )
  must(Exit.isSuccess(exit), () => `.${ending} died: ${String(exit)}`)
  const result = exit.value
  if (result._tag === "Failure") {
    const { message, reason } = result.failure
    must(REASONS.has(reason), () => `.${ending} was refused as ${reason}: ${message}`)
    must(message.startsWith(`damaged.${ending}: `), () => `the message names no file: ${message}`)
    return
  }
  const law = brokenLaw(result.success)
  must(law === undefined, () => `.${ending}: ${law}`)
  for (const { end, start, text } of chunk(result.success)) {
    must(result.success.text.slice(start, end) === text, () => `.${ending}: a passage is not its span`)
  }
}
