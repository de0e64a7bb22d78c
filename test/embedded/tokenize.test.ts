import { describe, expect, it } from "vitest"
import { termOfWord } from "../../packages/embedded/src/text/Term.ts"
import { tokenize } from "../../packages/embedded/src/text/tokenize.ts"

const keys = (text: string) => tokenize(text).map(({ key }) => key)

describe("tokenize", () => {
  it("gives one term for all spellings of a word", () => {
    const words = Array.from({ length: 20_000 }, (_, i) => `q${i.toString(36).replace(/\d/g, "x")}z${i}`)
    const known = words.map(termOfWord)
    expect(new Set(known).size).toBe(new Set(known.map(({ key }) => key)).size)
    words.forEach((word, i) => {
      for (const text of [`a ${word}.`, `${word.toUpperCase()}`]) {
        expect(tokenize(text).at(-1), text).toBe(known[i])
      }
    })
  })

  it("ignores case and accents", () => {
    expect(keys("É é ÉCOLE École école ÉÉ")).toEqual(["e", "e", "ecol", "ecol", "ecol", "ee"])
  })

  it("treats a character beyond U+FFFF as a word", () => {
    expect(keys("𐐨 𠀀 🚢x")).toEqual(["𐐨", "𠀀", "🚢x"])
  })

  it("drops the suffix after an apostrophe", () => {
    expect(keys("boat's they’ll it'sxy 90's")).toEqual(["boat", "they", "it", "sxi", "90", "s"])
  })

  it("splits identifiers and keeps the whole", () => {
    expect(keys("parseHTTPHeader ERR_1042 utf8 _x")).toEqual([
      "pars",
      "http",
      "header",
      "parsehttphead",
      "err",
      "1042",
      "err1042",
      "utf8",
      "x"
    ])
  })

  it("gives each CJK character and each pair of neighbours", () => {
    expect(keys("闸门 ok門")).toEqual(["闸", "闸门", "门", "ok", "門"])
  })

  it("cuts words after 64 characters", () => {
    expect(keys("x".repeat(100))).toEqual(["x".repeat(64)])
  })
})
