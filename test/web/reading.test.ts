/** Parsers of the page: Markdown, whose characters keep their offsets, and server-sent events. */
import { assert, describe, it } from "vitest"
import { COLLECTION_NAME } from "../../apps/demo-server/src/contract/Names.ts"
import { makeEventParser } from "../../apps/demo-server/src/web/api/request.ts"
import { readableBlock } from "../../apps/demo-server/src/web/markdown/blocks.ts"
import { markdownRuns } from "../../apps/demo-server/src/web/markdown/inline.ts"
import { plainText } from "../../apps/demo-server/src/web/markdown/inline.ts"
import { captionText } from "../../apps/demo-server/src/web/ui/format.ts"

const shown = (text: string): string =>
  markdownRuns(text, 0, text.length)
    .map(({ end, start }) => text.slice(start, end))
    .join("")

/** Random text with Markdown signs. A seed always gives the same text. */
const scrambled = (seed: number): string => {
  const parts = [
    "**",
    "*",
    "_",
    "`",
    "``",
    "[",
    "](",
    ")",
    "<b>",
    "\\",
    "!",
    "https://a.b/",
    "wörd",
    " ",
    "<",
    ">"
  ]
  let state = seed
  return Array.from({ length: 40 }, () => {
    state = (state * 1103515245 + 12345) % 2147483648
    return parts[state % parts.length]
  }).join("")
}

describe("inline Markdown", () => {
  it("is shown without its markup", () => {
    assert.strictEqual(
      shown("a **bold** and *fine* `x * y` [link](https://a.b) \\*"),
      "a bold and fine x * y link *"
    )
    assert.strictEqual(shown("snake_case_name and 2 * 3 * 4"), "snake_case_name and 2 * 3 * 4")
    assert.strictEqual(shown("**a *b* c**"), "a b c")
  })

  it("links to http and https only", () => {
    const runs = markdownRuns("[a](https://x.y) [b](javascript:alert) [c](./d.md)", 0, 51)
    assert.deepStrictEqual(
      runs.flatMap(({ href }) => href ?? []),
      ["https://x.y"]
    )
  })

  it("says where a link leads, unless its text does", () => {
    const hosts = (text: string) => markdownRuns(text, 0, text.length).flatMap(({ host }) => host ?? [])
    assert.deepStrictEqual(hosts("[https://127.0.0.1/account](https://evil.example/?d=1)"), ["evil.example"])
    assert.deepStrictEqual(hosts("[**the** account](http://evil.example:8080/a)"), ["evil.example:8080"])
    assert.deepStrictEqual(hosts("<https://127.0.0.1@evil.example/>"), ["evil.example"])
    assert.deepStrictEqual(hosts("[a](https://xn--80ak6aa92e.com) [b](https://а.com)"), [
      "xn--80ak6aa92e.com",
      "xn--80a.com"
    ])
    assert.deepStrictEqual(hosts("<https://a.b/c> [https://a.b](https://a.b/c) [x](./d.md)"), [])
  })

  it("leads from a link inside a link to where the outer one leads, and says so", () => {
    const text = "[a <https://127.0.0.1:80@evil.example/>](https://127.0.0.1/)"
    const links = markdownRuns(text, 0, text.length).map(({ host, href }) => [href, host])
    assert.deepStrictEqual(links, [
      ["https://127.0.0.1/", undefined],
      ["https://127.0.0.1/", "127.0.0.1"]
    ])
  })

  it("keeps the offsets of every run in any text", () => {
    for (let seed = 1; seed <= 2000; seed++) {
      const text = scrambled(seed)
      let at = 0
      for (const { end, start } of markdownRuns(text, 0, text.length)) {
        assert.isTrue(start >= at && end >= start && end <= text.length, text)
        at = end
      }
    }
  })
})

describe("the name of a collection", () => {
  // The field for a new collection uses the contract's expression as its `pattern`.
  const field = new RegExp(`^(?:${COLLECTION_NAME.source})$`, "v")

  it.each(["a", "A-1_b.c", "9", "x".repeat(64)])("accepts %j", (name) => {
    assert.isTrue(field.test(name))
  })

  it.each(["", "x".repeat(65), ".a", "-a", "a b", "中", "a/b"])("refuses %j", (name) => {
    assert.isFalse(field.test(name))
  })
})

describe("blocks", () => {
  const block = (text: string, kind: "heading" | "list" | "table" | "code" | "paragraph") =>
    readableBlock(text, "markdown", { kind, start: 0, end: text.length })
  const texts = (text: string, runs: ReadonlyArray<{ readonly start: number; readonly end: number }>) =>
    runs.map(({ end, start }) => text.slice(start, end)).join("")

  it("are shown without their markup", () => {
    for (const [source, title] of [
      ["## Leave ##", "Leave"],
      ["Leave\n=====", "Leave"]
    ] as const) {
      const heading = block(source, "heading")
      assert.strictEqual(heading.kind === "heading" && texts(source, heading.runs), title)
    }
    const list = "- one\n  two\n  - three\n1. four"
    const items = block(list, "list")
    assert.deepStrictEqual(
      items.kind === "list"
        ? items.items.map(({ depth, marker, runs }) => [
            depth,
            marker,
            texts(list, runs).replaceAll(/\s+/g, " ")
          ])
        : [],
      [
        [0, "", "one two"],
        [1, "", "three"],
        [0, "1.", "four"]
      ]
    )
    const rows = "| a | b |\n|---|--:|\n| 1 | **2** |"
    const table = block(rows, "table")
    assert.deepStrictEqual(
      table.kind === "table" ? table.rows.map((row) => row.map((cell) => texts(rows, cell))) : [],
      [
        ["a", "b"],
        ["1", "2"]
      ]
    )
    for (const [source, head] of [
      [rows, 0],
      [`Table 1: Of two columns\n\n${rows}`, 1],
      ["a\nb", 0],
      ["a | b", -1]
    ] as const) {
      const table = block(source, "table")
      assert.strictEqual(table.kind === "table" && table.head, head, source)
    }
    const code = "```ts\nconst a = 1\n```"
    const fenced = block(code, "code")
    assert.strictEqual(fenced.kind === "code" && code.slice(fenced.start, fenced.end), "const a = 1\n")
  })

  it("takes time in proportion to a text of open constructs", () => {
    const started = process.threadCpuUsage()
    for (const open of ["`a ", "**a ", "*a ", "[a](", "<a ", "<!-- ", "`", " "])
      plainText(`a${open.repeat(99_000 / open.length)}b`, true)
    plainText(`${" ".repeat(99_000)}b`, true)
    assert.isBelow(process.threadCpuUsage(started).user, 4e6)
  })

  it("become one line of plain text", () => {
    assert.strictEqual(plainText("> **Nobody** is asked.\n- Never.", true), "Nobody is asked. Never.")
    assert.strictEqual(plainText("3 * 4 = 12", false), "3 * 4 = 12")
    assert.strictEqual(plainText("| **a** | b |\n|---|---|\n| 1 | 2 |", true), "a · b 1 · 2")
  })
})

describe("server-sent events", () => {
  it("are parsed from pieces of any size", () => {
    const stream =
      'event: a\r\ndata: {"n":1}\r\n\r\n: still here\n\ndata: {"n":\ndata: 2}\n\ndata: {"n":3}\n\n'
    for (let at = 0; at <= stream.length; at++) {
      const events: Array<{ n: number }> = []
      const feed = makeEventParser<{ n: number }>((event) => events.push(event))
      feed(stream.slice(0, at))
      feed(stream.slice(at))
      assert.deepStrictEqual(
        events.map(({ n }) => n),
        [1, 2, 3],
        `cut at ${at}`
      )
    }
  })

  it("end with [DONE]", () => {
    const feed = makeEventParser(() => {})
    assert.isFalse(feed('data: {"n":1}\n\n'))
    assert.isTrue(feed("data: [DONE]\n\n"))
  })
})

it("leaves the label out of a caption that begins with it", () => {
  assert.strictEqual(
    captionText({ caption: "Figure 2: Ways of the water", number: "2" }),
    "Ways of the water"
  )
  assert.strictEqual(captionText({ caption: "Fig. 2 Ways of the water", number: "2" }), "Ways of the water")
  assert.strictEqual(captionText({ caption: "Figure 21: Weirs", number: "2" }), "Figure 21: Weirs")
  assert.strictEqual(captionText({ caption: "Ways of the water" }), "Ways of the water")
})
