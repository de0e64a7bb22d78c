/** `docs/start/connect.md`: the table of vendors, and an example of each. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { readFileSync } from "node:fs"
import { decodeProvidersFile } from "../../apps/demo-server/src/providers/ProvidersFile.ts"
import { OPERATION_NAMES } from "../../apps/demo-server/src/connect/Vendors.ts"
import { DIALECTS } from "../../packages/providers/src/index.ts"

const text = readFileSync(new URL("../../docs/start/connect.md", import.meta.url), "utf8")

/** The cells of a row of the table: the vendor, a mark for each operation, the variable. */
const rows = new Map(
  [...text.matchAll(/^\| \[([\w-]+)\]\(#\1\) *\|(.*)\|$/gm)].map(([, id = "", cells = ""]) => [
    id,
    cells.split("|").map((cell) => cell.trim())
  ])
)

describe("docs/start/connect.md", () => {
  it("has a row for each vendor, with what it has and the variable of its key", () => {
    const expected = DIALECTS.map(({ id, keyVariable, operations }) => [
      id,
      [
        ...OPERATION_NAMES.map((name) => (operations[name] === undefined ? "" : "✓")),
        keyVariable === undefined ? "–" : `\`${keyVariable}\``
      ]
    ])
    assert.deepStrictEqual([...rows], expected)
  })

  it.effect.each(DIALECTS.map(({ id }) => id))("has an example of %s that is valid", (id) =>
    Effect.gen(function* () {
      const [, example = ""] =
        new RegExp(`^### ${id}\\n[^]*?\`\`\`json\\n([^]*?)\`\`\``, "m").exec(text) ?? []
      const { upstreams = [] } = yield* decodeProvidersFile(`{ "upstreams": [${example}] }`)
      const [entry] = upstreams
      const dialect = DIALECTS.find((one) => one.id === id)
      assert.strictEqual(entry?.dialect, id)
      assert.isDefined(entry?.url ?? dialect?.url, "an address")
      assert.isDefined(entry?.models ?? dialect?.list ?? dialect?.models, "models, or a list of them")
    })
  )
})
