import { assert, layer } from "@effect/vitest"
import { Vision } from "@sluice/core"
import { layerVision } from "@sluice/embedded/vision"
import { Effect } from "effect"
import { readFile } from "node:fs/promises"
import { join } from "node:path"
import sharp from "sharp"
import { visionLaws } from "../laws/models.ts"

const root = join(import.meta.dirname, "../..")
const picture = (path: string) => Effect.promise(() => readFile(join(root, path)))
const chart = picture("test/embedded/fixtures/boats.png")

visionLaws("the embedded vision", layerVision)

layer(layerVision, { excludeTestServices: true, timeout: "60 seconds" })("vision by OCR", (it) => {
  it.effect("answers with the text in the picture", () =>
    Effect.gen(function* () {
      const { look } = yield* Vision
      const page = yield* picture("docs/page.png")
      const answer = yield* Effect.promise(() =>
        sharp(page).extract({ left: 30, top: 350, width: 680, height: 120 }).png().toBuffer()
      )
      const { text, tokens } = yield* look("How many turns does gate 2 need for one metre?", [answer])
      assert.match(text, /310 turns for one metre/)
      assert.strictEqual(tokens, 0)
    })
  )

  it.effect("returns the lines of a picture with their boxes", () =>
    Effect.gen(function* () {
      const vision = yield* Vision
      const bytes = yield* Effect.promise(() =>
        sharp({
          text: {
            text: "<span foreground='black'>Weir level 4.20 m\nLock closed</span>",
            rgba: true,
            dpi: 220
          }
        })
          .flatten({ background: "white" })
          .extend({ top: 40, bottom: 60, left: 90, right: 50, background: "white" })
          .png()
          .toBuffer({ resolveWithObject: true })
      )
      const { height, width } = bytes.info
      assert.isDefined(vision.read)
      const lines = yield* vision.read(bytes.data)
      assert.deepStrictEqual(
        lines.map(({ text }) => text),
        ["Weir level 4.20 m", "Lock closed"]
      )
      for (const { box } of lines) {
        const [x0, y0, x1, y1] = box
        assert.isTrue(x0 < x1 && y0 < y1 && x1 <= width && y1 <= height, String(box))
        // The text begins where the margin ends.
        assert.approximately(x0, 90, 8)
        assert.isAtLeast(y0, 36)
      }
      assert.isBelow(lines[0]!.box[3], lines[1]!.box[3])
      const { reason } = yield* Effect.flip(vision.read(new TextEncoder().encode("GIF89a")))
      assert.strictEqual(reason._tag, "InvalidRequest")
    })
  )

  it.effect("describes the picture in the language of the question if no text answers it", () =>
    Effect.gen(function* () {
      const { look } = yield* Vision
      const images = [yield* chart]
      const english = yield* look("Who painted the ceiling?", images)
      assert.match(english.text, /^No text in the picture/)
      assert.match(english.text, /720 × 420 pixels, white \d+ %, blue \d+ %/)
      assert.include(english.text, "142")
      const chinese = yield* look("谁画了天花板？", images)
      assert.match(chinese.text, /^图中的文字没有回答/)
      assert.include(chinese.text, "蓝色")
    })
  )
})
