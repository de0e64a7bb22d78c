import { describe, expect, it } from "vitest"
import { buildIdfTable } from "../../packages/embedded/scripts/buildIdfTable.ts"
import { idf } from "../../packages/embedded/src/text/idf.ts"
import { idfLevels } from "../../packages/embedded/src/text/IdfTable.ts"

describe("idf", () => {
  it("has a table of 14 levels without duplicates", () => {
    const terms = idfLevels.flatMap((level) => level.split(" "))
    expect(idfLevels).toHaveLength(14)
    expect(terms.length).toBeGreaterThan(8000)
    expect(new Set(terms).size).toBe(terms.length)
  })

  it("is lower for common terms, in English and Chinese", () => {
    const rising = (...terms: ReadonlyArray<string>) => {
      const values = terms.map(idf)
      expect(values, terms.join()).toEqual(values.toSorted((a, b) => a - b))
      expect(values[0]).toBeLessThan(values.at(-1) ?? 0)
      expect(values.every((value) => value > 0 && value <= 1)).toBe(true)
    }
    rising("new", "water", "velocity".slice(0, 6), "aeroelast")
    rising("国", "船", "闸")
    rising("中国", "世界", "船闸")
    rising("7", "42", "868", "1868", "81828")
  })
})

describe("buildIdfTable", () => {
  it("counts stems, characters and pairs, also across words, and leaves out the rarest", () => {
    const english = [
      ["the", "run", "running", "gate", "zebra"],
      ["run", "gate"]
    ]
    const chinese = "中国 900 ns\n国人 90 n\n人 9000 n\n船闸 3 n\nAA制 3 n\n"
    const levels = buildIdfTable(english, chinese)
    const levelOf = (term: string) => levels.findIndex((level) => level.split(" ").includes(term))
    expect(levels).toHaveLength(14)
    expect(levelOf("run")).toBeGreaterThanOrEqual(0)
    for (const absent of ["the", "running", "制"]) expect(levelOf(absent), absent).toBe(-1)
    expect(levelOf("人")).toBeLessThanOrEqual(levelOf("中"))
    expect(levelOf("人中")).toBeGreaterThanOrEqual(0)
  })
})
