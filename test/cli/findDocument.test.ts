/** A document may be named by any path that leads to it, or by the end of one. */
import { assert, describe, it } from "@effect/vitest"
import { namedDocument } from "../../apps/demo-server/src/cli/library/FindDocument.ts"

const documents = ["boiler.md", "heating/stove.md", "old/stove.md", "heating/Flue.md", "a/boiler.md"].map(
  (path, i) => ({ id: `d${i}`, path })
)
const meant = (named: string) => {
  const { document, near } = namedDocument(documents, named)
  return document?.path ?? near.map(({ path }) => path)
}

describe("a document that is named", () => {
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
  ])("as %s is %s", (named, path) => assert.strictEqual(meant(named), path))

  it.each([
    ["stove.md", ["heating/stove.md", "old/stove.md"]],
    ["heating/stoves.md", ["heating/stove.md", "old/stove.md"]],
    ["flue", ["heating/Flue.md"]],
    ["turbine.pdf", []],
    ["./", []]
  ])("as %s is none, and may be one of %j", (named, paths) => assert.deepStrictEqual(meant(named), paths))
})
