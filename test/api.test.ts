/** What the packages export. */
import { PACKAGE_VERSION } from "@sluice/core/contract"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { apiOf } from "../scripts/write-api.ts"
import { packageFolders } from "./architecture/Rules.ts"

/** The most names of each root: what programs need. Everything else has an entry of its own. */
const MOST_NAMES = [
  ["packages/core", "@sluice/core", 80],
  ["packages/rag", "@sluice/rag", 60]
] as const

const read = (folder: string, file: string) =>
  readFileSync(join(import.meta.dirname, "..", folder, file), "utf8")

describe("the public API", () => {
  it.each(packageFolders)("%s has the version that requests and documents name", (folder) => {
    expect(JSON.parse(read(folder, "package.json")).version).toBe(PACKAGE_VERSION)
  })

  it.each(packageFolders)("%s/api.txt is current (else: npm run -s api)", (folder) => {
    expect(apiOf(folder)).toBe(read(folder, "api.txt"))
  })

  it.each(MOST_NAMES)("%s: the root exports few names", (folder, root, most) => {
    const [, names] = new RegExp(`^# ${root}: (\\d+) exports`, "m").exec(read(folder, "api.txt")) ?? []
    expect(Number(names)).toBeLessThanOrEqual(most)
    expect(Number(names)).toBeGreaterThan(most / 2)
  })
})
