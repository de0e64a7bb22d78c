/** Figures and tables in HTML and Markdown, image documents, and text in pictures. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { GatewayError, InvalidRequest, Vision } from "@sluice/core"
import { Effect, Layer } from "effect"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import {
  type PictureFile,
  MAX_LOADED_PICTURES,
  MAX_RECOGNIZED_PICTURES
} from "../../packages/rag/src/formats/parsing/Pictures.ts"
import { pictureReader } from "../../packages/rag/src/ingest/sources/SourceFiles.ts"
import { docx, drawing, p, png } from "../rag/DocxWriter.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = (path: string, text: string, picture?: PictureFile) =>
  parse({ path, bytes: utf8(text), picture })
const outline = ({ blocks, text }: Parsed) =>
  blocks.map(({ end, kind, start }) => [kind, text.slice(start, end)])
const figures = ({ figures, text }: Parsed) =>
  figures.map(({ caption, crop, end, kind, mentions, number, start }) => ({
    kind,
    number,
    text: text.slice(start, end),
    caption: caption && text.slice(caption.start, caption.end),
    mentions: mentions.map((span) => text.slice(span.start, span.end)),
    crop: crop?.length
  }))
const picture = png(64, 48)
const data = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`
const beside: PictureFile = (reference) => Effect.succeed(reference === "img/gate.png" ? picture : undefined)

/** An OCR engine that reads `lines` in each picture, and counts its calls. */
const reader = (lines: ReadonlyArray<string>) => {
  const calls = { count: 0 }
  const layer = Layer.succeed(Vision, {
    model: { id: "test", kind: "extractive", maxImages: 1, maxImageBytes: 1e9, formats: ["png"] },
    look: () => Effect.die("look is not used"),
    read: () =>
      Effect.sync(() => {
        calls.count++
        return lines.map((text, i) => ({ text, box: [8, 16 * i, 56, 16 * i + 12] as const }))
      })
  })
  return { calls, layer }
}

describe("HTML", () => {
  it.effect("has figures of pictures and captions, without access to the network", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        "a.html",
        `<p>The gate (see Figure 3) and <img src="smile.png" class="emoji" alt=":-)"> a drawing<img src="${data}" alt="Drawn by hand"> of it.
         <figure><img src="img/gate.png" alt="A gate"><figcaption>Figure 3: The <b>upper</b> gate.</figcaption></figure>
         <script>fetch("https://example.org")</script><style>p { background: url(https://example.org/x) }</style>
         <img src="https://example.org/far.png" alt="A far lock"><p>Fig. 4. By the river</p>
         <figure><svg><title>Levels</title><text>4.20 m</text><script>no</script></svg><figcaption>Figure 5. Levels</figcaption></figure>
         <img src="https://example.org/pixel.gif"><img alt="" src="img/gate.png"><img width="1" height="1" src="t.gif">
         <img src="img/missing.png" alt="Missing">`,
        beside
      )
      assert.deepStrictEqual(outline(parsed), [
        ["paragraph", "The gate (see Figure 3) and :-) a drawing of it."],
        ["figure", "Drawn by hand"],
        ["figure", "Figure 3: The upper gate.\nA gate"],
        ["figure", "A far lock\n\nFig. 4. By the river"],
        ["figure", "Figure 5. Levels\nLevels 4.20 m"],
        ["figure", "Missing"]
      ])
      const [drawn, gate, far, levels] = figures(parsed)
      assert.deepInclude(drawn, { text: "Drawn by hand", crop: picture.length })
      assert.isUndefined(drawn?.caption)
      assert.deepInclude(gate, { number: "3", caption: "Figure 3: The upper gate.", crop: picture.length })
      assert.deepStrictEqual(gate?.mentions, ["The gate (see Figure 3) and :-) a drawing of it."])
      assert.deepInclude(far, { number: "4", caption: "Fig. 4. By the river", crop: undefined })
      assert.deepInclude(levels, { number: "5", crop: undefined })
      assert.deepStrictEqual(
        parsed.faults.map(({ message }) => message),
        ["1 picture is on the network, which is not accessed.", "1 picture is in files that were not given."]
      )
    })
  )

  it.effect("repeats a cell in each row that it spans, up to a limit", () =>
    Effect.gen(function* () {
      const long = "Saltmere ".repeat(400).trim()
      const rows = Array.from({ length: 999 }, (_, i) => `<tr><td>row ${i}`).join("")
      const parsed = yield* read("a.html", `<table><tr><td rowspan=1000>${long}<td>first${rows}</table>`)
      assert.include(parsed.text, "row 998")
      assert.isBelow(parsed.text.length, 200_000)
    })
  )

  it.effect("has tables with rows, columns and spanning cells", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        "a.html",
        `<p>Table 1 has it.</p><table><caption>Table 1: Boats</caption><thead><tr><th>Month<th colspan=2>Boats</thead>
         <tr><td rowspan=2>May<td>up<td>12<tr><td>down<td>7<tr><td>June<td colspan="2">none</table>
         <p>表2：船只</p><table><tr><td>一<td>二<tr><td>三<td>四</table><table><tr><td>one cell</table>`
      )
      assert.deepStrictEqual(outline(parsed), [
        ["paragraph", "Table 1 has it."],
        ["table", "Table 1: Boats\nMonth | Boats\nMay | up | 12\nMay | down | 7\nJune | none"],
        ["table", "表2：船只\n\n一 | 二\n三 | 四"],
        ["table", "one cell"]
      ])
      const [boats, second] = parsed.figures
      assert.deepStrictEqual(boats?.rows, [
        ["Month", "Boats", "Boats"],
        ["May", "up", "12"],
        ["May", "down", "7"],
        ["June", "none", "none"]
      ])
      assert.deepInclude(figures(parsed)[0], { kind: "table", number: "1", caption: "Table 1: Boats" })
      assert.deepStrictEqual(figures(parsed)[0]?.mentions, ["Table 1 has it."])
      assert.deepInclude(second, { kind: "table", number: "2" })
      assert.lengthOf(parsed.figures, 2)
    })
  )
})

describe("Markdown", () => {
  it.effect("has figures of paragraphs with only pictures and captions", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        "a.md",
        `# Lock\n\n![A gate](img/gate.png "Figure 1: The gate")\n\n![Wheel][wheel]\n*Figure 2: The wheel*\n\nText with a ![picture](x.png) in it, and Figures 1 and 2.\n\n[![CI](https://ci/badge.svg)](https://ci)\n\nTable 1: Levels\n\n| a *b* | c |\n|---|---|\n| 1 | [2](x) |\n\n<figure><img src="img/gate.png" alt="Again"><figcaption>Figure 3: Again</figcaption></figure>\n\n[wheel]: ${data}\n`,
        beside
      )
      assert.notInclude(parsed.text, "base64,i")
      assert.deepStrictEqual(outline(parsed).slice(1, -1), [
        ["figure", `![A gate](img/gate.png "Figure 1: The gate")`],
        ["figure", "![Wheel][wheel]\n*Figure 2: The wheel*"],
        ["paragraph", "Text with a ![picture](x.png) in it, and Figures 1 and 2."],
        ["paragraph", "[![CI](https://ci/badge.svg)](https://ci)"],
        ["table", "Table 1: Levels\n\n| a *b* | c |\n|---|---|\n| 1 | [2](x) |"],
        [
          "figure",
          `<figure><img src="img/gate.png" alt="Again"><figcaption>Figure 3: Again</figcaption></figure>`
        ]
      ])
      const [gate, wheel, levels, again] = figures(parsed)
      assert.deepInclude(gate, { number: "1", caption: "Figure 1: The gate", crop: picture.length })
      assert.deepInclude(wheel, { number: "2", crop: picture.length })
      assert.lengthOf(wheel?.mentions ?? [], 1)
      assert.deepInclude(levels, { kind: "table", number: "1", caption: "Table 1: Levels" })
      assert.deepStrictEqual(parsed.figures[2]?.rows, [
        ["a b", "c"],
        ["1", "2"]
      ])
      assert.deepInclude(again, { number: "3", caption: "Figure 3: Again", crop: picture.length })
    })
  )

  it.effect("loads a limited number of 10,000 pictures, and has all of them as figures", () =>
    Effect.gen(function* () {
      let loaded = 0
      const counted: PictureFile = () => Effect.sync(() => (loaded++, picture))
      const { calls, layer } = reader(["gauge 4.20 m"])
      const many = Array.from({ length: 10_000 }, (_, i) => `![p${i}](img/${i}.png)`).join("\n\n")
      const parsed = yield* Effect.provide(read("many.md", many, counted), layer)
      assert.lengthOf(parsed.figures, 10_000)
      assert.strictEqual(loaded, MAX_LOADED_PICTURES)
      assert.strictEqual(calls.count, MAX_RECOGNIZED_PICTURES)
      assert.match(parsed.faults[0]?.message ?? "", /9500 pictures are left out/)
    })
  )
})

describe("pictures beside a document", () => {
  it.effect("are read only within the ingested folder", () =>
    Effect.gen(function* () {
      const outer = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "sluice-pictures-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      const root = join(outer, "docs")
      for (const folder of ["notes", "img", ".hidden"]) mkdirSync(join(root, folder), { recursive: true })
      writeFileSync(join(outer, "secret.png"), picture)
      for (const name of ["img/the gate.png", ".hidden/x.png", "notes/own.png"])
        writeFileSync(join(root, name), picture)
      symlinkSync(join(outer, "secret.png"), join(root, "img/link.png"))
      symlinkSync(outer, join(root, "img/up"))
      const file = pictureReader(root, "notes/a.md")
      for (const found of [
        "../img/the%20gate.png?raw=1",
        "own.png",
        "/img/the gate.png",
        "..\\img\\the gate.png"
      ]) {
        assert.deepStrictEqual(new Uint8Array((yield* file(found)) as Uint8Array), picture, found)
      }
      for (const outside of ["../../secret.png", "../img/link.png", "../img/up/secret.png"]) {
        assert.match(String(yield* file(outside)), /outside/, outside)
      }
      assert.match(String(yield* file("../.hidden/x.png")), /hidden/)
      for (const none of ["missing.png", "%", "\0", "../img", ""]) {
        assert.isTrue([undefined, "lies outside the ingested folder"].includes((yield* file(none)) as string))
      }
      const parsed = yield* read(
        "notes/a.md",
        "![Gate](<../img/the gate.png>)\n\n![Secret](../../secret.png)\n",
        file
      )
      assert.deepStrictEqual(
        figures(parsed).map(({ crop }) => crop),
        [picture.length, undefined]
      )
      assert.match(parsed.faults[0]?.message ?? "", /secret\.png.*outside/)
    })
  )
})

describe("text in pictures", () => {
  it.effect("is added at the end of the figure", () =>
    Effect.gen(function* () {
      const { layer } = reader(["upper gate  ", "—", "84 turns"])
      const sources: ReadonlyArray<readonly [string, Uint8Array]> = [
        [
          "a.html",
          utf8(`<p>Before, see Figure 1.<img src="${data}" alt="x"><p>Figure 1: Caption</p><p>After.`)
        ],
        ["a.md", utf8(`Before, see Figure 1.\n\n![x](${data})\n\nFigure 1: Caption\n\nAfter.\n`)],
        [
          "a.docx",
          docx(p("Before, see Figure 1.") + p(drawing("p1", "x")) + p("Figure 1: Caption") + p("After."), {
            pictures: { p1: picture }
          })
        ]
      ]
      for (const [path, bytes] of sources) {
        const parsed = yield* Effect.provide(parse({ path, bytes }), layer)
        const [figure] = figures(parsed)
        assert.isTrue(
          figure?.text.endsWith("Figure 1: Caption\nupper gate\n84 turns"),
          `${path}: ${figure?.text}`
        )
        assert.strictEqual(figure?.caption, "Figure 1: Caption", path)
        assert.deepStrictEqual(figure?.mentions, ["Before, see Figure 1."], path)
        assert.deepStrictEqual(outline(parsed).at(-1), ["paragraph", "After."], path)
        assert.strictEqual(outline(parsed)[1]?.[1], figure?.text, path)
        assert.deepStrictEqual(parsed.faults, [], path)
      }
    })
  )

  it.effect("is read although other pictures fail", () =>
    Effect.gen(function* () {
      const layer = Layer.succeed(Vision, {
        model: { id: "test", kind: "extractive", maxImages: 1, maxImageBytes: 1e9, formats: ["png"] },
        look: () => Effect.die("look is not used"),
        read: (image) =>
          image.length === picture.length
            ? Effect.succeed([{ text: "4.20 m", box: [0, 0, 9, 9] as const }])
            : Effect.fail(
                new GatewayError({
                  operation: "vision",
                  reason: new InvalidRequest({ message: "It is damaged.", code: "invalid_image" })
                })
              )
      })
      const cut = `data:image/png;base64,${Buffer.from(picture.subarray(0, 60)).toString("base64")}`
      const bomb = `data:image/png;base64,${Buffer.from(png(1, 1, { claimed: [60_000, 60_000] })).toString("base64")}`
      const parsed = yield* Effect.provide(
        read(
          "a.html",
          `<img src="${cut}" alt="cut"><img src="${bomb}" alt="bomb"><img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" alt="gif"><img src="${data}" alt="right"><p>End`
        ),
        layer
      )
      assert.deepStrictEqual(
        figures(parsed).map(({ text }) => text),
        ["cut", "bomb", "gif", "right\n4.20 m"]
      )
      const messages = parsed.faults.map(({ message }) => message).join("\n")
      for (const pattern of [
        /picture 1 was not read: .*damaged/,
        /picture 2 .*60000 × 60000/,
        /picture 3 is a GIF/
      ]) {
        assert.match(messages, pattern)
      }
    })
  )
})

describe("an image", () => {
  it.effect("has one page, one figure, and its lines with boxes in points", () =>
    Effect.gen(function* () {
      const image = png(288, 144, { dpi: 144 })
      const { layer } = reader(["Upper gauge", "4.20 m"])
      const parsed = yield* Effect.provide(parse({ path: "scans/gauge_board.png", bytes: image }), layer)
      assert.strictEqual(parsed.title, "gauge board")
      assert.strictEqual(parsed.text, "Upper gauge\n4.20 m")
      const [page] = parsed.pages
      assert.approximately(page?.width ?? 0, 144, 0.1)
      assert.approximately(page?.height ?? 0, 72, 0.1)
      const [first, second] = parsed.lines
      assert.deepInclude(second, { page: 1, start: 12, end: 18 })
      assert.approximately(first?.box[2] ?? 0, 28, 0.1)
      assert.deepStrictEqual(outline(parsed), [["figure", parsed.text]])
      assert.deepInclude(parsed.figures[0], { kind: "figure", start: 0, end: 18, page: 1, crop: image })
    })
  )

  it.effect("has its file name as text if no text is read", () =>
    Effect.gen(function* () {
      const alone = yield* parse({ path: "beam-engine_1868.png", bytes: picture })
      const { layer } = reader([])
      const empty = yield* Effect.provide(parse({ path: "beam-engine_1868.png", bytes: picture }), layer)
      for (const parsed of [alone, empty]) {
        assert.strictEqual(parsed.text, "beam engine 1868")
        assert.deepStrictEqual(outline(parsed), [["figure", "beam engine 1868"]])
        assert.deepStrictEqual(parsed.lines[0]?.box, [0, 0, 48, 36])
      }
    })
  )

  it.effect.each([
    ["more than 20 MB", png(9, 9), 21 * 1024 * 1024, "TooLarge", /21\.0 MB.*20 MB/],
    ["too many pixels", png(1, 1, { claimed: [100_000, 100_000] }), 0, "TooLarge", /100000 × 100000 pixels/],
    [
      "too many pixels in a JPEG",
      Uint8Array.from([0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0xff, 0xff, 0xff, 0xff, 1, 1, 0x11, 0]),
      0,
      "TooLarge",
      /65535 × 65535/
    ],
    ["a truncated header", png(9, 9).subarray(0, 20), 0, "Malformed", /cut off or damaged/]
  ] as const)("is rejected if it has %s", ([, bytes, size, reason, advice]) =>
    Effect.gen(function* () {
      const padded = new Uint8Array(Math.max(size, bytes.length))
      padded.set(bytes)
      const error = yield* Effect.flip(parse({ path: "a.png", bytes: padded }))
      assert.strictEqual(error.reason, reason)
      assert.match(error.message, advice)
    })
  )
})
