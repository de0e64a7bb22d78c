/** The list of documents in pages. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { DocumentsPage } from "../../apps/demo-server/src/contract/index.ts"
import { filesOf, testServer, TestServer } from "./TestServer.ts"

const PATHS = ["a/duck.md", "a/heron.md", "b.md", "c/duck.md", "d.md"]

layer(testServer(), { excludeTestServices: true })("GET /documents", (it) => {
  it.effect("returns pages in the order of paths, with the number of documents in all of them", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      yield* call("/documents", {
        body: filesOf(Object.fromEntries(PATHS.map((path) => [path, `# ${path}`])))
      })
      const found: Array<string> = []
      for (let after = ""; ;) {
        const page = yield* json(DocumentsPage, `/documents?limit=2&after=${encodeURIComponent(after)}`)
        assert.strictEqual(page.total, PATHS.length)
        assert.isAtMost(page.documents.length, 2)
        found.push(...page.documents.map(({ path }) => path))
        if (page.next === undefined) break
        after = page.next
      }
      assert.deepStrictEqual(found, PATHS)
    })
  )

  it.effect("finds a part of a path or title, and sees a removal at once", () =>
    Effect.gen(function* () {
      const { call, json } = yield* TestServer
      const ducks = yield* json(DocumentsPage, "/documents?text=DUCK&limit=1")
      assert.deepStrictEqual([ducks.total, ducks.next], [2, "a/duck.md"])
      yield* call(`/documents/${ducks.documents[0]!.id}`, { method: "DELETE" })
      assert.strictEqual((yield* json(DocumentsPage, "/documents?text=duck")).total, 1)
      assert.strictEqual((yield* call("/documents?limit=0")).status, 400)
      assert.strictEqual((yield* call("/documents?limit=1001")).status, 400)
    })
  )
})
