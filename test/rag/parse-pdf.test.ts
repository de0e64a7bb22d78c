/** Parsing of PDFs: reading order, positions, and invalid files. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import type { Parsed } from "../../packages/rag/src/document/Document.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { column, type PdfPage, writePdf } from "./PdfWriter.ts"

const read = (pages: ReadonlyArray<PdfPage>, title?: string) =>
  parse({ path: "test.pdf", bytes: writePdf(pages, title) })

const texts = ({ blocks, text }: Parsed) => blocks.map((block) => text.slice(block.start, block.end))

const CHINESE = { font: "STSong-Light" } as const

const sentence = (word: string): ReadonlyArray<string> =>
  ["first", "second", "third", "fourth", "fifth"].map(
    (nth) => `${word} ${nth} line that fills the column of text,`
  )

describe("a PDF", () => {
  it.effect("has its columns in reading order, below a headline that spans them", () =>
    Effect.gen(function* () {
      // The file has the lines row by row, as some programs write them
      const left = column(50, 700, sentence("left"))
      const right = column(310, 700, sentence("right"))
      const parsed = yield* read([
        {
          marks: [
            {
              text: "A headline over both of the columns of the page",
              x: 50,
              y: 760,
              size: 18,
              font: "Helvetica-Bold"
            },
            ...left.flatMap((mark, index) => [mark, right[index]!])
          ]
        }
      ])
      assert.strictEqual(parsed.title, "A headline over both of the columns of the page")
      assert.deepStrictEqual(
        texts(parsed).slice(1).join(" "),
        [...sentence("left"), ...sentence("right")].join(" ")
      )
      assert.strictEqual(parsed.blocks[0]?.kind, "heading")
    })
  )

  it.effect("joins hyphenated words and paragraphs across pages, and passages have their first page", () =>
    Effect.gen(function* () {
      const parsed = yield* read([
        {
          marks: column(50, 760, [
            "The sluice is opened in the morning and kept under obser-",
            "vation until the well-known keeper has had a long break",
            "and a look at the gauge, which he then reads to all the"
          ])
        },
        { marks: column(50, 760, ["people who wait for it at the quay.", "They nod."]) }
      ])
      assert.deepStrictEqual(texts(parsed), [
        "The sluice is opened in the morning and kept under observation until the well-known keeper has had a long break and a look at the gauge, which he then reads to all the people who wait for it at the quay. They nod."
      ])
      const [passage] = chunk(parsed)
      assert.strictEqual(passage?.page, 1)
      assert.deepStrictEqual(
        passage?.lines.map(({ page }) => page),
        [1, 1, 1, 2, 2]
      )
      for (const { end, start } of parsed.lines) assert.notMatch(parsed.text.slice(start, end), /^\s|\s$/)
    })
  )

  it.effect("has new paragraphs after a page that is not full", () =>
    Effect.gen(function* () {
      const card = (...lines: ReadonlyArray<string>) => ({
        marks: lines.map((text, i) => ({ text, x: 50, y: 760 - 12 * i, font: "STSong-Light" as const }))
      })
      const parsed = yield* read([card("水泵登记卡", "每周一百元"), card("闸门登记卡", "每周两百元")])
      assert.deepStrictEqual(texts(parsed), ["水泵登记卡每周一百元", "闸门登记卡每周两百元"])
    })
  )

  it.effect("keeps the hyphen of compound words at line ends", () =>
    Effect.gen(function* () {
      const lines = ["The art of the lock is user-", "specified by a specified user, a state-of-"]
      const next = [
        "the-art gauge with-",
        "out which, with or without leave, nobody goes in to in-",
        "form by form."
      ]
      const parsed = yield* read([{ marks: column(50, 760, [...lines, ...next]) }])
      assert.deepStrictEqual(texts(parsed), [
        "The art of the lock is user-specified by a specified user, a state-of-the-art gauge without which, with or without leave, nobody goes in to inform by form."
      ])
    })
  )

  it.effect("has the boxes of lines on rotated and cropped pages", () =>
    Effect.gen(function* () {
      const marks = [{ text: "Weir", x: 100, y: 700, size: 20 }]
      const box = (page: PdfPage) =>
        Effect.map(read([page]), ({ lines, pages }) =>
          [...lines[0]!.box, pages[0]!.width, pages[0]!.height].map(Math.round)
        )
      const [x0, y0, x1, y1, ...size] = yield* box({ marks })
      assert.deepStrictEqual([x0, size], [100, [595, 842]])
      // The base line is 142 points from the top; ascent and descent of the font are around it
      assert.isTrue(y0! < 130 && y0! > 115 && y1! > 142 && y1! < 152 && x1! > 135 && x1! < 155)
      assert.deepStrictEqual(yield* box({ marks, cropBox: [40, 100, 595, 802] }), [
        x0! - 40,
        y0! - 40,
        x1! - 40,
        y1! - 40,
        555,
        702
      ])
      // Rotated clockwise by 90°: the left edge is at the top
      assert.deepStrictEqual(yield* box({ marks, rotate: 90 }), [842 - y1!, x0, 842 - y0!, x1, 842, 595])
      assert.deepStrictEqual(yield* box({ marks, rotate: 180 }), [
        595 - x1!,
        842 - y1!,
        595 - x0!,
        842 - y0!,
        595,
        842
      ])
    })
  )

  it.effect("has rotated text after other text", () =>
    Effect.gen(function* () {
      const parsed = yield* read([
        {
          marks: [
            { text: "Up the margin", x: 30, y: 300, turned: 90 },
            ...column(60, 700, ["Across the page.", "And on."])
          ]
        }
      ])
      assert.deepStrictEqual(texts(parsed), ["Across the page. And on.", "Up the margin"])
      const [x0, y0, x1, y1] = parsed.lines.at(-1)!.box
      assert.isTrue(x1 - x0 < 15 && y1 - y0 > 50)
    })
  )

  it.effect("has no headers and footers, and has levels of numbered sections", () =>
    Effect.gen(function* () {
      const parsed = yield* read(
        [1, 2, 3].map((n) => ({
          marks: [
            { text: "Annual report", x: 50, y: 810, size: 8 },
            { text: `Page ${n}`, x: 280, y: 30, size: 8 },
            { text: `${n} Part ${"ABC"[n - 1]}`, x: 50, y: 760, size: 14, font: "Helvetica-Bold" as const },
            { text: `${n}.1 Detail`, x: 50, y: 735, size: 11, font: "Helvetica-Bold" as const },
            ...column(50, 715, [`Text of part ${n} that goes on for a while,`, "and ends here."])
          ]
        }))
      )
      assert.notInclude(parsed.text, "Annual")
      assert.notInclude(parsed.text, "Page")
      assert.deepStrictEqual(
        chunk(parsed).map(({ headings, page }) => [page, ...headings]),
        [
          [1, "1 Part A", "1.1 Detail"],
          [2, "2 Part B", "2.1 Detail"],
          [3, "3 Part C", "3.1 Detail"]
        ]
      )
    })
  )

  it.effect("has no page numbers, but other numbers at the edges of pages", () =>
    Effect.gen(function* () {
      const pages = (count: number, top: (n: number) => string, bottom: (n: number) => string) =>
        read(
          Array.from({ length: count }, (_, at) => ({
            marks: [
              { text: top(at + 1), x: 50, y: 810, ...(top(1).startsWith("第") && CHINESE) },
              { text: `What page ${at + 1} says of the waiting quay, in words.`, x: 50, y: 500 },
              { text: bottom(at + 1), x: 50, y: 30 }
            ]
          }))
        )
      const roman = ["i", "ii", "iii", "iv", "v", "vi"]
      const numbers: ReadonlyArray<readonly [top: (n: number) => string, bottom: (n: number) => string]> = [
        [(n) => `Annual report | ${n + 40}`, (n) => `- ${n} -`],
        [(n) => `Page ${n} of 6`, (n) => roman[n - 1] ?? ""],
        [(n) => `第 ${n} 页`, (n) => `${n} / 6`]
      ]
      for (const [top, bottom] of numbers) {
        const { blocks } = yield* pages(6, top, bottom)
        assert.lengthOf(blocks, 6, top(1))
      }
      const kept: ReadonlyArray<
        readonly [count: number, top: (n: number) => string, bottom: (n: number) => string]
      > = [
        [6, (n) => `Invoice ${n + 1039}`, (n) => `Total: ${n * 37} euro`],
        [2, (n) => `Room ${n + 100}`, (n) => `2024-03-0${n}`],
        [30, (n) => (n % 10 === 1 ? "Delivered to Holm" : `To ${n * n}`), (n) => String(n * n)]
      ]
      for (const [count, top, bottom] of kept) {
        const { text } = yield* pages(count, top, bottom)
        for (let n = 1; n <= count; n++) {
          assert.include(text, top(n))
          assert.include(text, bottom(n))
        }
      }
    })
  )

  it.effect("has table rows, and Chinese text without spaces", () =>
    Effect.gen(function* () {
      const row = (y: number, ...cells: ReadonlyArray<string>) =>
        cells.map((text, i) => ({ text, x: 50 + i * 150, y }))
      const parsed = yield* read([
        {
          marks: [
            ...row(700, "Item", "Place", "Number"),
            ...row(680, "Grease", "Weir house", "2"),
            ...row(660, "Rope", "Loft", "3"),
            { text: "水位到五米时，", x: 50, y: 600, font: "STSong-Light" },
            { text: "船闸停航。", x: 50, y: 588, font: "STSong-Light" }
          ]
        }
      ])
      assert.deepStrictEqual(texts(parsed), [
        "Item | Place | Number\nGrease | Weir house | 2\nRope | Loft | 3",
        "水位到五米时，船闸停航。"
      ])
    })
  )

  it.effect("loses only an unreadable page", () =>
    Effect.gen(function* () {
      const parsed = yield* read([
        { marks: column(50, 700, ["One."]) },
        { marks: [], broken: true },
        { marks: column(50, 700, ["Three."]) }
      ])
      assert.include(parsed.text, "One.")
      assert.include(parsed.text, "Three.")
      assert.strictEqual(parsed.lines.at(-1)?.page, parsed.pages.at(-1)?.number)
    })
  )

  // encrypted.pdf: one empty page, user password "open sesame", written by PDFium's own EPDF_SetEncryption and SaveAsCopy
  const whole = writePdf(Array.from({ length: 3 }, () => ({ marks: column(50, 700, sentence("a")) })))
  it.effect.each([
    [
      "a password-protected PDF",
      readFileSync(join(import.meta.dirname, "fixtures/encrypted.pdf")),
      "Encrypted",
      /is password-protected/
    ],
    ["a PDF cut in half", whole.slice(0, whole.length / 2), "Malformed", /part of it is missing.*again/],
    [
      "a PDF cut within an appended update",
      Uint8Array.from([...whole, ...new TextEncoder().encode("3 0 obj\n<< /Type")]),
      "Malformed",
      /part of it is missing.*again/
    ],
    ["a PDF without its trailer", whole.slice(0, -30), "Malformed", /part of it is missing.*again/],
    [
      "a PDF of garbage after its header",
      Uint8Array.from([...whole.slice(0, 9), ...whole.slice(9).map((byte, i) => byte ^ (i % 251))]),
      "Malformed",
      /again/
    ],
    [
      "a scan without text recognition",
      writePdf([{ marks: [], image: true }]),
      "UnsupportedFormat",
      /scan.*OCRmyPDF/
    ],
    ["an empty page", writePdf([{ marks: [] }]), "Empty", /no text/]
  ] as const)("rejects %s", ([, bytes, reason, advice]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path: "bad.pdf", bytes }))
      assert.strictEqual(error.reason, reason)
      assert.match(error.message, advice)
      // The thread parses the next file
      assert.include((yield* read([{ marks: column(50, 700, ["Fine."]) }])).text, "Fine.")
    })
  )

  const junk = (length: number) => new Uint8Array(length).fill(120)
  it.effect.each([
    ["before", Uint8Array.from([...junk(900), ...whole])],
    ["after", Uint8Array.from([...whole, ...junk(9_000)])]
  ] as const)("may have junk %s it", ([, bytes]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* parse({ path: "sent.pdf", bytes })).pages.length, 3)
    })
  )

  it.effect("can be parsed in parallel and after an interruption, and keeps its bytes", () =>
    Effect.gen(function* () {
      const bytes = writePdf([{ marks: column(50, 700, ["Mine."]) }])
      const all = yield* Effect.forEach([1, 2, 3, 4], () => parse({ path: "a.pdf", bytes }), {
        concurrency: "unbounded"
      })
      const broken = yield* Effect.forkChild(parse({ path: "a.pdf", bytes }), { startImmediately: true })
      yield* Fiber.interrupt(broken)
      const after = yield* parse({ path: "a.pdf", bytes })
      for (const { text } of [...all, after]) assert.strictEqual(text, "Mine.")
      assert.isAbove(bytes.length, 0)
    })
  )
})
