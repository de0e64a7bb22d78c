/**
 * Collects the public files of `files.tsv`, by which the formats are measured. They stay outside of this repository.
 *
 * ```sh
 * node scripts/formats/collect.ts --clones DIR --to DIR
 * ```
 *
 * The first DIR has a clone of each repository, named `OWNER+NAME`. A file that is missing there or has another SHA-256 is
 * named and left out.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { flag } from "../flags.ts"
import { listedFiles } from "./listedFiles.ts"

const clones = flag("--clones")
const to = flag("--to")

mkdirSync(to, { recursive: true })
let collected = 0
for (const { commit, name, path, repository, sha256 } of listedFiles()) {
  const clone = join(clones, repository.replace("/", "+"))
  const inner = join(clone, "repo")
  const from = existsSync(inner) ? inner : clone
  try {
    const bytes = execFileSync("git", ["-C", from, "show", `${commit}:${path}`], {
      maxBuffer: 64 * 1024 * 1024,
      stdio: ["ignore", "pipe", "ignore"]
    })
    const found = createHash("sha256").update(bytes).digest("hex")
    if (found !== sha256) throw new Error(`its SHA-256 is ${found}`)
    writeFileSync(join(to, name), bytes)
    collected++
  } catch (cause) {
    console.error(`${repository} ${path}: ${(cause as Error).message.split("\n")[0]}`)
  }
}
console.log(`${collected} files`)
