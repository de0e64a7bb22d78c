/** Invariants of parsed documents, on random documents of each format, with and without text in pictures. */
import { assert, describe, it } from "@effect/vitest"
import { Vision } from "@sluice/core"
import { Effect, Layer } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { docx, png } from "../rag/DocxWriter.ts"
import { brokenLaw } from "../rag/FigureLaws.ts"
import { randomDocxBody, randomHtmlFigures, randomMarkdownFigures } from "../rag/RandomDocument.ts"

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1)
const picture = png(40, 30)
const READ = "read in the picture"

const reader = Layer.succeed(Vision, {
  model: { id: "test", kind: "extractive", maxImages: 1, maxImageBytes: 1e9, formats: ["png"] },
  look: () => Effect.die("nobody looks"),
  read: () => Effect.succeed([{ text: READ, box: [0, 0, 9, 9] as const }])
})

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const formats = {
  md: (seed: number) => utf8(randomMarkdownFigures(seed)),
  html: (seed: number) => utf8(randomHtmlFigures(seed)),
  docx: (seed: number) =>
    docx(randomDocxBody(seed), { pictures: { p0: picture, p1: "https://example.org/x.png" } })
}

describe("parse", () => {
  for (const [ending, make] of Object.entries(formats)) {
    it.effect(
      `keeps the invariants of blocks and figures in any .${ending}, and adds the text of pictures only to them`,
      () =>
        Effect.gen(function* () {
          let figures = 0
          let captions = 0
          let mentions = 0
          for (const seed of SEEDS) {
            const file = {
              path: `random.${ending}`,
              bytes: make(seed),
              picture: () => Effect.succeed(picture)
            }
            const exit = yield* Effect.result(parse(file))
            if (exit._tag === "Failure") {
              assert.strictEqual(exit.failure.reason, "Empty", `seed ${seed}`)
              continue
            }
            const plain = exit.success
            const seen = yield* Effect.provide(parse(file), reader)
            for (const parsed of [plain, seen]) {
              assert.isUndefined(brokenLaw(parsed), `seed ${seed}`)
              for (const { end, start, text } of chunk(parsed)) {
                assert.strictEqual(parsed.text.slice(start, end), text, `seed ${seed}`)
              }
            }
            assert.strictEqual(seen.text.replaceAll(`\n${READ}`, ""), plain.text, `seed ${seed}`)
            const words = ({ blocks, text }: typeof plain) =>
              blocks.map(({ end, start }) => text.slice(start, end).replaceAll(`\n${READ}`, ""))
            assert.deepStrictEqual(words(seen), words(plain), `seed ${seed}`)
            seen.figures.forEach(({ caption, end, start }, at) => {
              const before = plain.figures[at]!
              const own = seen.text.slice(start, end)
              assert.strictEqual(
                own.includes(READ),
                before.crop !== undefined && before.crop.length === picture.length,
                `seed ${seed}`
              )
              const said = (text: string, span: typeof caption) => span && text.slice(span.start, span.end)
              assert.strictEqual(said(seen.text, caption), said(plain.text, before.caption), `seed ${seed}`)
            })
            figures += plain.figures.length
            captions += plain.figures.filter(({ caption }) => caption !== undefined).length
            mentions += plain.figures.filter(({ mentions }) => mentions.length > 0).length
          }
          // The documents have enough figures for the invariants to matter
          assert.isAbove(figures, 100)
          assert.isAbove(captions, 20)
          assert.isAbove(mentions, 2)
        })
    )
  }
})
