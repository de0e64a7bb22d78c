/** A document is found by any path that leads to it, or by the end of its path. */
import { assert, describe, it } from "@effect/vitest"
import { findDocument } from "../../apps/demo-server/src/cli/library/FindDocument.ts"

const documents = ["boiler.md", "heating/stove.md", "old/stove.md", "heating/Flue.md", "a/boiler.md"].map(
  (path, i) => ({ id: `d${i}`, path })
)
const find = (name: string) => {
  const { candidates, document } = findDocument(documents, name)
  return document?.path ?? candidates.map(({ path }) => path)
}

describe("findDocument", () => {
  it.each([
    ["boiler.md", "boiler.md"],
    ["d3", "heating/Flue.md"],
    ["docs/boiler.md", "boiler.md"],
    ["./boiler.md", "boiler.md"],
    ["Boiler.md/", "boiler.md"],
    ["./docs/heating/stove.md", "heating/stove.md"],
    ["/home/me/docs/a/boiler.md", "a/boiler.md"],
    ["docs\\old\\stove.md", "old/stove.md"],
    ["Flue.md", "heating/Flue.md"],
    ["HEATING/flue.MD", "heating/Flue.md"],
    ["docs/BOILER.md", "boiler.md"]
  ])("finds for %s the document %s", (name, path) => assert.strictEqual(find(name), path))

  it.each([
    ["stove.md", ["heating/stove.md", "old/stove.md"]],
    ["heating/stoves.md", ["heating/stove.md", "old/stove.md"]],
    ["flue", ["heating/Flue.md"]],
    ["turbine.pdf", []],
    ["./", []]
  ])("finds for %s no single document and suggests %j", (name, paths) =>
    assert.deepStrictEqual(find(name), paths)
  )
})
