import { DIMENSION, embedText } from "@sluice/embedded"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0)

/** The cosines of the query with `near` and `far`. */
const similarities = (query: string, near: string, far: string) => {
  const wanted = embedText(query, "query")
  return [cosine(wanted, embedText(near)), cosine(wanted, embedText(far))] as const
}

const expectNearer = (query: string, near: string, far: string) => {
  const [to, from] = similarities(query, near, far)
  expect(to, `${query}: ${near} before ${far}`).toBeGreaterThan(from + 0.1)
}

const digest = (vector: Float32Array) =>
  createHash("sha256")
    .update(Array.from(vector, (value) => Math.round(value * 1e6)).join())
    .digest("hex")
    .slice(0, 16)

describe("embedText", () => {
  // Vectors are stored in libraries: if one of these changes, the model needs another id.
  it.each([
    ["The boiler must be inspected every spring before it is lit.", "80ba68d4dd169b23"],
    ["过一次船闸大约需要20分钟。", "c7c492fa086a03b1"],
    ["Errors\nparseHTTPHeader threw ERR_1042 in utf8_decode", "599ba187a7b02bc7"]
  ])("gives the vector that libraries hold: %s", (text, expected) => {
    expect(digest(embedText(text))).toBe(expected)
  })

  it("gives the same vector after the vocabulary was cleared", () => {
    const text =
      "Harrow Lock\nA locking takes about twenty minutes; ERR_1042 闸室 means the lock is out of service"
    const before = embedText(text)
    embedText(Array.from({ length: 130_000 }, (_, i) => `word${i.toString(36)}x`).join(" "))
    expect(embedText(text)).toEqual(before)
  })

  it("has norm 1, or 0 for a text without a word", () => {
    for (const text of ["a", "The Who", "x", "的", "1", "🙂", "naïve", "ﬁn", "__init__", "𠮷野家", "it's"]) {
      expect(Math.hypot(...embedText(text)), text).toBeCloseTo(1, 5)
    }
    for (const text of ["", " \n\t", "—…!?", "***", "___"])
      expect(Math.hypot(...embedText(text)), text).toBe(0)
    expect(embedText("").length).toBe(DIMENSION)
  })

  it("matches inflected and misspelt words", () => {
    expectNearer("inspecting boilers", "the boiler was inspected", "the garden was watered")
    expectNearer("boundry layers", "boundary layer", "wing sweep")
  })

  it("weighs rare words more than common ones", () => {
    expectNearer("new paddle", "the paddle jams", "new people came home")
    expectNearer("一个船闸", "船闸已经关闭", "一个人来了")
  })

  it("matches identifiers and their parts in any case", () => {
    expectNearer("parse http header", "call parseHTTPHeader(raw)", "call renderJSONBody(raw)")
    expectNearer("PARSE_HTTP_HEADER", "call parseHTTPHeader(raw)", "parse the command line")
    expectNearer("ERR_1042", "it failed with ERR_1042", "it failed with ERR_2077")
    expectNearer("err 1042", "ERR_1042 means that the disk is full", "ERR_2077 means that the disk is slow")
  })

  it("normalizes full width and accents, and splits Chinese from Latin letters", () => {
    expect(embedText("ＡＢＣ　１２３")).toEqual(embedText("abc 123"))
    expect(embedText("café crème")).toEqual(embedText("CAFE CREME"))
    expectNearer("USB接口", "这台电脑有三个USB接口", "这台电脑有三个按键")
  })

  it("weighs the title of a passage more than another line", () => {
    const body = "Every Monday all of the gate leaves are looked at by the relief keeper."
    expectNearer("grease", `Grease\n${body} Paint.`, `Paint\n${body} Grease.`)
  })
})
