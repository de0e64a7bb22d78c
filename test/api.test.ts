/** What the packages export. */
import { describe, expect, it } from "vitest"
import { exportedNames } from "./api/PublicApi.ts"

/** The most names of each root: what programs need. Everything else has an entry of its own. */
const MOST_NAMES = [
  ["packages/core", "@sluice/core", 80],
  ["packages/rag", "@sluice/rag", 60]
] as const

describe("the public API", () => {
  it.each(MOST_NAMES)("%s: the root exports few names", (folder, root, most) => {
    const entries = exportedNames(folder)
    expect(entries.size).toBeGreaterThan(1)
    const names = entries.get(root) ?? []
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(most)
    expect(names.length).toBeGreaterThan(most / 2)
  })
})
