/** Damaged PDFs: each is read in part or rejected with a reason; the process, its workers and the next file go on. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Effect, Exit } from "effect"
import type { Random } from "../../bench/corpus/Random.ts"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"
import { must, type Trial } from "./Trial.ts"

const SAMPLE = fileURLToPath(new URL("../../apps/demo-server/samples/inspection-report.pdf", import.meta.url))

let sample: Uint8Array | undefined
const original = (): Uint8Array => (sample ??= readFileSync(SAMPLE))

/** Flips bytes, changes numbers, and cuts, repeats or swaps ranges; sometimes truncates the file. */
const damage = (bytes: Uint8Array, random: Random): Uint8Array => {
  let out = Uint8Array.from(bytes)
  const at = (): number => random.between(0, out.length - 1)
  for (let n = random.between(1, 24); n > 0; n--) {
    const kind = random.between(0, 6)
    const place = at()
    if (kind <= 2) out[place] = random.between(0, 255)
    else if (kind === 3) {
      // Lengths, offsets and references to objects
      for (let i = place; i < Math.min(out.length, place + 400); i++) {
        if (out[i]! >= 48 && out[i]! <= 57) {
          out[i] = 48 + random.between(0, 9)
          break
        }
      }
    } else if (kind === 4) {
      const length = random.between(1, 200)
      out = Uint8Array.from([...out.subarray(0, place), ...out.subarray(place + length)])
    } else if (kind === 5) out.copyWithin(place, at(), at())
    else if (random.between(0, 9) === 0) out = out.slice(0, Math.max(20, place))
  }
  out.set([0x25, 0x50, 0x44, 0x46, 0x2d])
  return out
}

const keepsLaws = (parsed: Parsed): void => {
  const broken = brokenLaw(parsed)
  must(broken === undefined, () => String(broken))
  must(
    parsed.lines.every(({ box }) => box.every(Number.isFinite)),
    () => "a line has no place"
  )
  for (const { end, start, text } of chunk(parsed)) {
    must(parsed.text.slice(start, end) === text, () => "a passage is not its span")
  }
}

export const pdf: Trial = async (random) => {
  const exit = await Effect.runPromiseExit(parse({ path: "damaged.pdf", bytes: damage(original(), random) }))
  if (Exit.isSuccess(exit)) keepsLaws(exit.value)
  else must(Exit.hasFails(exit), () => `it died: ${String(exit.cause)}`)
  if (random.between(0, 9) === 0) {
    const next = await Effect.runPromise(parse({ path: "whole.pdf", bytes: original() }))
    must(next.text.includes("Harrow Lock"), () => "the next file suffers")
  }
}
