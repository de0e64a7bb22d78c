/** A command that is stopped says what is kept, and the documentation of each benchmark is its help. */
import { execFileSync } from "node:child_process"
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, it } from "vitest"
import { sluiceIn } from "../cli/Launcher.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-stopped-"))
  await mkdir(join(folder, "docs"))
  await writeFile(join(folder, "docs/lock.md"), "# Lock\n\nThe lock opens at six.")
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it("a sync that is stopped says what is kept, and what was written is there", async () => {
  const stopped = await sluiceIn(folder, ["sync", "docs", "--every", "60"], {}, "1 added")
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toContain("Stopped. What was written stays")
  expect((await sluiceIn(folder, ["list"])).stdout).toContain("docs/lock.md")
})

it("each benchmark has a help", async () => {
  const root = join(import.meta.dirname, "../..")
  const help = (...name: ReadonlyArray<string>) =>
    execFileSync(process.execPath, ["bench/main.ts", ...name, "--help"], { cwd: root, encoding: "utf8" })
  const all = help()
  const files = (await readdir(join(root, "bench"))).filter((name) =>
    /^(?:gateway|peers|query|size)\.ts$/.test(name)
  )
  for (const file of files) expect(all).toMatch(new RegExp(`^${file.replace(".ts", "")}\\n {2}\\w`, "m"))
  expect(help("gateway")).toContain("`postgres`")
})
