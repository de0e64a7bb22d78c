/** What the packages export. */
import { PACKAGE_VERSION } from "@sluice/core/contract"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { packageFolders } from "./architecture/Rules.ts"
import { exportedNames } from "./api/PublicApi.ts"

/** The most names of each root: what programs need. Everything else has an entry of its own. */
const MOST_NAMES = [
  ["packages/core", "@sluice/core", 80],
  ["packages/rag", "@sluice/rag", 60]
] as const

describe("the public API", () => {
  it.each(packageFolders)("%s has the version that requests and documents name", (folder) => {
    const manifest = readFileSync(join(import.meta.dirname, "..", folder, "package.json"), "utf8")
    expect(JSON.parse(manifest).version).toBe(PACKAGE_VERSION)
  })

  it.each(MOST_NAMES)("%s: the root exports few names", (folder, root, most) => {
    const entries = exportedNames(folder)
    expect(entries.size).toBeGreaterThan(1)
    const names = entries.get(root) ?? []
    expect(names.length, names.join(", ")).toBeLessThanOrEqual(most)
    expect(names.length).toBeGreaterThan(most / 2)
  })
})
