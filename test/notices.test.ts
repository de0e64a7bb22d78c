/** The NOTICE of each published package: current, and with the licences that are easily forgotten. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "vitest"
import { noticeOf, PUBLISHED } from "../scripts/write-notices.ts"

const root = join(import.meta.dirname, "..")

describe("the NOTICE", () => {
  for (const folder of PUBLISHED) {
    it(`of ${folder} is current (else: npm run -s notices) and in the tarball`, () => {
      assert.strictEqual(readFileSync(join(root, folder, "NOTICE"), "utf8"), noticeOf(folder))
      const { files } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
      assert.include(files, "NOTICE")
    })
  }

  it("has the licences of code inside of packages, and of fonts", () => {
    const notice = noticeOf("apps/demo-server")
    for (const text of [
      "Mozilla Public License 1.1",
      "MOZILLA PUBLIC LICENSE",
      "6.1. New Versions.",
      "GNU LESSER GENERAL PUBLIC LICENSE",
      "4. Combined Works.",
      "17. Interpretation of Sections 15 and 16.",
      "SIL OPEN FONT LICENSE",
      "preact "
    ]) {
      assert.include(notice, text)
    }
  })
})
