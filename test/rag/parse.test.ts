/** Formats, encodings, titles and blocks, and the advice for files that are rejected. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { formatOf } from "../../packages/rag/src/formats/DocumentFormats.ts"
import { parse } from "../../packages/rag/src/formats/ParsedFile.ts"
import { MAX_FILE_BYTES } from "../../packages/rag/src/formats/parsing/DocumentFormat.ts"
import { parseHtml } from "../../packages/rag/src/formats/html/Html.ts"
import { parseMarkdown } from "../../packages/rag/src/formats/markdown/Markdown.ts"

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const bytes = (...values: ReadonlyArray<number>): Uint8Array => Uint8Array.from(values)
const outline = ({ blocks, text }: ReturnType<typeof parseMarkdown>) =>
  blocks.map((block) => [block.kind, text.slice(block.start, block.end)])

describe("parse", () => {
  it.effect.each([
    [
      "a PDF named as text",
      "notes.txt",
      utf8("%PDF-1.7 …"),
      "Malformed",
      /the name says Text, but this is a PDF/
    ],
    ["text named as a PDF", "notes.pdf", utf8("Dear all"), "Malformed", /not a valid PDF/],
    ["an HTML page named as Markdown", "page.md", utf8("<!DOCTYPE html><p>x"), "Malformed", /HTML.*\.html/],
    ["binary in a .txt", "core.txt", bytes(1, 2, 0, 0, 7, 200, 0, 3), "Malformed", /binary.*UTF-8/],
    ["an image named as Markdown", "cat.md", bytes(0x89, 0x50, 0x4e, 0x47, 13, 10), "Malformed", /PNG image/],
    [
      "random bytes",
      "noise.md",
      bytes(...Array.from({ length: 99 }, (_, i) => 128 + ((i * 89) % 127))),
      "Malformed",
      /UTF-8/
    ],
    [
      "an archive of a program",
      "plan.jar",
      utf8("PK\u0003\u0004…"),
      "UnsupportedFormat",
      /\.jar.*Office.*Markdown \(\.md.*Word \(\.docx\)/
    ],
    ["an old Word document", "plan.doc", bytes(0xd0, 0xcf, 0x11, 0xe0), "UnsupportedFormat", /old Office/],
    ["a GIF", "cat.gif", utf8("GIF89a"), "UnsupportedFormat", /GIF image/],
    ["text named as an image", "cat.png", utf8("meow"), "Malformed", /not a valid Image/],
    ["an unknown format", "a.xyz", utf8("hello"), "UnsupportedFormat", /\.xyz.*Convert/],
    ["an empty file", "empty.md", bytes(), "Empty", /no text/],
    ["white space", "blank.txt", utf8(" \n\t\n"), "Empty", /no text/],
    ["only front matter", "front.md", utf8("---\ntitle: x\n---\n"), "Empty", /no text/],
    ["a page without text", "page.html", utf8("<html><script>x</script>"), "Empty", /no text/],
    ["a file over the limit", "big.md", new Uint8Array(MAX_FILE_BYTES + 1), "TooLarge", /64 MiB/]
  ] as const)("rejects %s", ([, path, content, reason, advice]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(parse({ path, bytes: content }))
      assert.strictEqual(error._tag, "RagError")
      assert.strictEqual(error.reason, reason)
      assert.strictEqual(error.document, path)
      assert.match(error.message, advice)
      assert.include(error.message, path)
    })
  )

  it.effect("reads text that mentions the header of a PDF", () =>
    Effect.gen(function* () {
      assert.include((yield* parse({ path: "a.md", bytes: utf8("It begins with\n%PDF-1.7") })).text, "%PDF")
    })
  )

  it.effect.each([
    ["UTF-8 with a byte order mark", [0xef, 0xbb, 0xbf, ...utf8("Gänse 水")], "Gänse 水"],
    ["little-endian UTF-16", [0xff, 0xfe, 0x34, 0x6c, 0x21, 0], "水!"],
    ["big-endian UTF-16", [0xfe, 0xff, 0x6c, 0x34, 0, 0x21], "水!"],
    [
      "Latin-1",
      [...utf8("The caf"), 0xe9, ...utf8(" by the weir, na"), 0xef, ...utf8("ve")],
      "The café by the weir, naïve"
    ],
    // 水位在四月到九月是四米。
    [
      "GB18030",
      [
        0xcb, 0xae, 0xce, 0xbb, 0xd4, 0xda, 0xcb, 0xc4, 0xd4, 0xc2, 0xb5, 0xbd, 0xbe, 0xc5, 0xd4, 0xc2, 0xca,
        0xc7, 0xcb, 0xc4, 0xc3, 0xd7, 0xa1, 0xa3
      ],
      "水位在四月到九月是四米。"
    ],
    [
      "windows-1251",
      Buffer.from(
        "d3f0eee2e5edfc20e2eee4fb20e220f8ebfee7e520efeee4ede8ece0e5f2f1ff20e220e0eff0e5ebe520ede020f7e5f2fbf0e520ece5f2f0e02e",
        "hex"
      ),
      "Уровень воды в шлюзе поднимается в апреле на четыре метра."
    ],
    [
      "Shift_JIS",
      Buffer.from(
        "838d8362834e82cc908588ca82cd8e6c95c482c582b7814282b182cc92ac82c982a082e882dc82b78142",
        "hex"
      ),
      "ロックの水位は四米です。この町にあります。"
    ]
  ] as const)("reads %s", ([, content, text]) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* parse({ path: "a.txt", bytes: Uint8Array.from(content) })).text, text)
    })
  )

  it.effect("rejects a sentence that two encodings read almost equally well", () =>
    Effect.gen(function* () {
      // "Overskriftsniveauer bør kun ændres sekventielt", as Estonian or as Western European
      const hex =
        "4f766572736b72696674736e697665617565722062f872206b756e20e66e647265732073656b76656e7469656c74"
      const error = yield* Effect.flip(parse({ path: "a.txt", bytes: Buffer.from(hex, "hex") }))
      assert.strictEqual(error.reason, "Malformed")
      assert.include(error.message, "save it as UTF-8")
    })
  )

  it.effect("takes the title from the document, otherwise from the file name", () =>
    Effect.gen(function* () {
      const title = (path: string, text: string) =>
        Effect.map(parse({ path, bytes: utf8(text) }), (parsed) => parsed.title)
      assert.strictEqual(yield* title("a.md", '---\ntitle: "Front"\n---\n# One\n'), "Front")
      assert.strictEqual(yield* title("a.md", "## Two\n\n# The *one* `x` [link](y)\n"), "The one x link")
      assert.strictEqual(yield* title("docs/lock-keeper_notes.md", "no heading"), "lock keeper notes")
      assert.strictEqual(yield* title("a.html", "<title>A &amp; B</title><h1>C</h1>"), "A & B")
      assert.strictEqual(yield* title("README", "Sluice\n======\n\ntext"), "Sluice")
    })
  )

  it("recognizes formats by file name", () => {
    const names = [
      "A.MD",
      "x/y.markdown",
      "p.HTM",
      "LICENSE",
      "Makefile",
      "a/b.py",
      "plan.ics",
      "ann.vcf",
      "t.csv",
      "d.PDF",
      "x.docx",
      "x.PNG",
      "x.jpeg",
      "x.webp",
      "x.gif",
      "x.doc",
      "none"
    ]
    assert.deepStrictEqual(
      names.map((name) => formatOf(name)?.id),
      [
        "markdown",
        "markdown",
        "html",
        "text",
        "text",
        "text",
        "text",
        "text",
        "csv",
        "pdf",
        "docx",
        "image",
        "image",
        "image",
        undefined,
        undefined,
        undefined
      ]
    )
  })
})

describe("parseMarkdown", () => {
  it("finds blocks and their exact text", () => {
    const parsed = parseMarkdown(
      "Setext\n===\n\npara one\ngoes on\n\n- a\n  - b\n- c\n\n```js\n# no heading\n\nx\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> quote\n\n***\n\n[r]: http://x\n\n    indented\n"
    )
    assert.deepStrictEqual(outline(parsed), [
      ["heading", "Setext\n==="],
      ["paragraph", "para one\ngoes on"],
      ["list", "- a\n  - b\n- c"],
      ["code", "```js\n# no heading\n\nx\n```"],
      ["table", "| a | b |\n|---|---|\n| 1 | 2 |"],
      ["paragraph", "> quote"],
      ["paragraph", "[r]: http://x"],
      ["code", "    indented"]
    ])
  })
})

describe("parseHtml", () => {
  it("leaves out deleted text, and how characters are read", () => {
    const parsed = parseHtml(
      "<p>It costs <del>100</del><ins>200</ins>.</p><p><ruby>船<rp>(</rp><rt>ふね</rt></ruby>と<ruby>港<rt>みなと</ruby>。</p>"
    )
    assert.deepStrictEqual(outline(parsed), [
      ["paragraph", "It costs 200."],
      ["paragraph", "船と港。"]
    ])
  })

  it("reads the visible text", () => {
    const parsed = parseHtml(
      `<nav>menu</nav><h1>Big <em>one</em></h1><p>Fish&nbsp;&amp;
        chips<br>now<div style="display: none">no</div><ul><li>one<li>two<ul><li>deep</li></ul></ul>
        <table><tr><th>a<th>b<tr><td>1<td><p>2</p></table><pre>\n  x\n    y</pre>tail<h2>End`
    )
    assert.deepStrictEqual(outline(parsed), [
      ["heading", "Big one"],
      ["paragraph", "Fish & chips\nnow"],
      ["list", "- one\n- two\n  - deep"],
      ["table", "a | b\n1 | 2"],
      ["code", "  x\n    y"],
      ["paragraph", "tail"],
      ["heading", "End"]
    ])
  })
})
