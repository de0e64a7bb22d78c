/** `--collection`, `list`, `remove` and `collections`, on the same library. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { sluiceHere } from "./Launcher.ts"

const root = process.cwd()
let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-cli-"))
  await writeFile(join(folder, "toll.md"), "# Toll\n\nThe toll is four crowns.\n")
  await writeFile(join(folder, "fee.md"), "# Fee\n\nThe toll is ninety crowns.\n")
  process.chdir(folder)
})
afterAll(async () => {
  process.chdir(root)
  await rm(folder, { recursive: true, force: true })
})

const run = async (...args: ReadonlyArray<string>) => {
  const { code, stderr, stdout } = await sluiceHere([...args, "--data", "data"])
  return { code, stderr, stdout: stdout.trim() }
}

it("documents are ingested into, listed in, asked of and removed from one collection", async () => {
  await run("ingest", "toll.md")
  await run("ingest", "fee.md", "--collection", "harbour")
  expect(await run("collections")).toMatchObject({ code: 0, stdout: "default\nharbour" })
  expect((await run("list")).stdout).toBe("toll.md (1 passage)")
  const listed = await run("list", "--collection", "harbour", "--json")
  expect(JSON.parse(listed.stdout).documents).toMatchObject([{ path: "fee.md" }])
  const question = ["ask", "How much is the toll?"]
  expect((await run(...question)).stdout).toContain("four crowns")
  expect((await run(...question, "--collection", "harbour")).stdout).toContain("ninety crowns")

  expect(await run("remove", "fee.md", "toll.md", "--collection", "harbour")).toMatchObject({ code: 1 })
  expect((await run("list", "--collection", "harbour")).stdout).toBe("fee.md (1 passage)")
  expect(await run("remove", "fee.md", "--collection", "harbour")).toMatchObject({
    code: 0,
    stdout: "removed fee.md"
  })
  expect((await run("list", "--collection", "harbour")).stdout).toBe("No documents.")
})

it("a command that reads makes no collection", async () => {
  for (const name of ["winter", "a/b"]) {
    const { code, stderr } = await run("ask", "How much is the toll?", "--collection", name)
    expect(code).toBe(1)
    expect(stderr).toContain(name)
  }
  expect((await run("collections")).stdout).not.toContain("winter")
})
