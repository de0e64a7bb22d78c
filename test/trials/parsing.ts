/** Laws of parsing and chunking, on random documents. */
import { Effect, Exit } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { must, type Trial } from "./Trial.ts"
import { randomText } from "./RandomDocument.ts"

/** Whether a slice begins or ends inside a surrogate pair. */
const cutsCharacter = (text: string, at: number): boolean =>
  at > 0 &&
  at < text.length &&
  /[\uD800-\uDBFF]/.test(text[at - 1] ?? "") &&
  /[\uDC00-\uDFFF]/.test(text[at] ?? "")

/** Every character of every block is in a passage; passages are slices of the text in order, under their headings. */
export const parsing: Trial = async (random) => {
  const path = `random.${random.pick(["md", "md", "html", "txt"])}`
  const source = randomText(random)
  const exit = await Effect.runPromiseExit(parse({ path, bytes: new TextEncoder().encode(source) }))
  // Blank text, or text that looks like another format, may be rejected, but must not cause a defect.
  if (Exit.isFailure(exit)) {
    must(Exit.hasFails(exit), () => `${path} died: ${String(exit.cause)}`)
    return
  }
  const parsed = exit.value
  const { blocks, text } = parsed
  let end = 0
  for (const block of blocks) {
    must(block.start >= end && block.end > block.start, () => `block ${JSON.stringify(block)} after ${end}`)
    end = block.end
  }
  must(end <= text.length, () => `a block ends at ${end} of ${text.length}`)
  if (path.endsWith(".md"))
    must(text === source.replace(/^\ufeff/, ""), () => "Markdown is not kept as it was")

  const passages = chunk(parsed)
  const covered = new Uint8Array(text.length)
  for (const [at, passage] of passages.entries()) {
    must(passage.ordinal === at, () => `ordinal ${passage.ordinal} at ${at}`)
    must(text.slice(passage.start, passage.end) === passage.text, () => `passage ${at} is not its span`)
    must(passage.text.trim() !== "", () => `passage ${at} is blank`)
    must(passage.start >= (passages[at - 1]?.start ?? 0), () => `passage ${at} stands before the one above`)
    must(
      !cutsCharacter(text, passage.start) && !cutsCharacter(text, passage.end),
      () => `passage ${at} cuts a character`
    )
    covered.fill(1, passage.start, passage.end)
  }
  for (const block of blocks) {
    if (block.kind === "heading") continue
    for (let at = block.start; at < block.end; at++) {
      must(
        covered[at] === 1 || /\s/.test(text[at] ?? ""),
        () => `no passage has character ${at} of ${block.kind}: ${JSON.stringify(text.slice(at, at + 40))}`
      )
    }
  }
}
