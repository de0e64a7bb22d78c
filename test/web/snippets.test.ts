/** The code of the playground escapes every text. `trials/snippets.test.ts` compiles and runs it. */
import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "vitest"
import { imageSnippet } from "../../apps/demo-server/src/web/snippets/calls.ts"
import { literal } from "../../apps/demo-server/src/web/snippets/program.ts"

const run = promisify(execFile)

describe("a text in the form", () => {
  const texts = [
    `'; touch owned; '`,
    "$(touch owned) `touch owned` $SLUICE_API_KEY",
    'a "quoted" \\ line\nEND\nof two',
    "\u2028 \u0000 \\u0000 \\$ \\` 船闸 🚣",
    // Longer than an argument may be.
    `${"船".repeat(45_000)} $(touch owned)`
  ]

  it("reaches curl unchanged and runs nothing", async () => {
    const path = await mkdtemp(join(tmpdir(), "sluice-curl-"))
    try {
      await writeFile(join(path, "a.png"), "picture")
      for (const text of texts) {
        const given = { model: "m", group: "I1", prompt: text }
        for (const picture of [undefined, "a.png"]) {
          const { curl } = imageSnippet("http://gateway", { ...given, picture })
          // The body is the last argument, or standard input if that is `@-`.
          const script = `curl() { env true "$@"; for last; do :; done; [ "$last" = @- ] && cat || printf %s "$last"; }\n${curl}`
          await writeFile(join(path, "call.sh"), script)
          const { stdout } = await run("bash", ["-e", "call.sh"], {
            cwd: path,
            env: { PATH: process.env["PATH"] }
          })
          const body: unknown = JSON.parse(stdout)
          const image = "data:image/png;base64,cGljdHVyZQ=="
          assert.deepStrictEqual(body, { model: "m", prompt: text, ...(picture && { image }) })
        }
      }
      await assertMissing(join(path, "owned"))
    } finally {
      await rm(path, { recursive: true })
    }
  })

  it("is escaped in a program", () => {
    for (const text of texts) {
      const value = { list: [text, [text]], "a-b": { text }, left: undefined }
      const { left: _, ...kept } = value
      // oxlint-disable-next-line no-new-func -- only an engine can evaluate the literal
      assert.deepStrictEqual(new Function(`return ${literal(value)}`)(), kept)
    }
  })
})

const assertMissing = (path: string) =>
  readFile(path).then(
    () => assert.fail(`${path} is there`),
    () => undefined
  )
