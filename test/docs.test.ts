/** Every block of code in the documentation has a language, and those that no test runs are few and say why. */
import { GatewayReason } from "@sluice/core"
import { RagError, RagReason } from "@sluice/rag"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { ragFailure } from "../apps/demo-server/src/libraries/RagFailure.ts"
import { readPage } from "./readme/PageScript.ts"

const root = join(import.meta.dirname, "..")
const pages = globSync("docs/**/*.md", {
  cwd: root,
  exclude: ["**/node_modules/**", "docs/reference/{api,cli.md}"]
})
  .concat("README.md")
  .map((path) => ({ path, ...readPage(path) }))

const LANGUAGES = new Set(["sh", "ts", "json", "yaml", "nginx", "text"])

const REASONS = new Set([
  "starts a server and does not end",
  "needs a container engine",
  "needs chat models",
  "needs a vendor's key",
  "needs an embedding server",
  "needs the repository",
  "downloads 259 MB"
])

describe("docs", () => {
  it("the page of errors has every reason", () => {
    const text = readFileSync(join(root, "docs/reference/errors.md"), "utf8")
    const named = [...text.matchAll(/^\| `(\w+)`/gm)].map(([, name = ""]) => name)
    const reasons = GatewayReason.members.map(({ fields }) => fields._tag.schema.literal)
    expect(named).toEqual([...reasons, ...RagReason.literals])
  })

  it.each(RagReason.literals)("the page of errors has the status and code of %s", (reason) => {
    const text = readFileSync(join(root, "docs/reference/errors.md"), "utf8")
    const { body, status } = ragFailure(new RagError({ stage: "store", reason, message: "It failed." }))
    expect(text).toMatch(new RegExp(`^\\| \`${reason}\` +\\| ${status} \`${body.error.code}\` +\\|`, "m"))
  })

  it("the command has its scoped name: the short one is another package", () => {
    const files = globSync(
      ["*.md", "docs/**/*.md", "{apps,packages}/*/README.md", "{apps,packages}/*/src/**/*.{ts,tsx}"],
      {
        cwd: root,
        exclude: ["**/node_modules/**"]
      }
    )
    expect(files.length).toBeGreaterThan(500)
    expect(
      files.filter((path) => /npx (?:-\S+ )*sluice\b/.test(readFileSync(join(root, path), "utf8")))
    ).toEqual([])
  })

  it("every page is in the site's menu", () => {
    const menu = readFileSync(join(root, "docs/.vitepress/config.ts"), "utf8")
    const absent = pages.filter(({ path }) => {
      const [, folder, name = ""] = path.split("/")
      return folder !== "decisions" && name !== "" && !menu.includes(`"${name.replace(/\.md$/, "")}"`)
    })
    expect(absent.map(({ path }) => path)).toEqual([])
  })

  it("every block of code has a known language", () => {
    const faults = pages.flatMap(({ blocks, path }) =>
      blocks
        .filter(({ info, isFenced }) => !isFenced || !LANGUAGES.has(info.split(" ")[0] ?? ""))
        .map(({ line }) => `${path}:${line}`)
    )
    expect(pages.length).toBeGreaterThan(20)
    expect(faults).toEqual([])
  })

  it("blocks that are not run are few, and give one of these reasons", () => {
    const reasons = pages.flatMap(({ notRun }) => notRun)
    expect(reasons.filter((reason) => !REASONS.has(reason))).toEqual([])
    expect(reasons.length).toBeLessThanOrEqual(20)
  })
})
