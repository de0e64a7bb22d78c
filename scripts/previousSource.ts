/** The source of an earlier version, which runs with the packages that are installed now. */
import { execFileSync } from "node:child_process"
import { mkdirSync, readdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("..", import.meta.url))

/** Extracts a commit into a new folder. Returns the arguments with which Node starts its server. */
export const extractCommit = (commit: string, folder: string): ReadonlyArray<string> => {
  const modules = join(folder, "node_modules")
  mkdirSync(join(modules, "@sluice"), { recursive: true })
  const source = execFileSync("git", ["archive", commit], { cwd: root, maxBuffer: 2 ** 30 })
  execFileSync("tar", ["xf", "-", "-C", folder], { input: source })
  for (const name of readdirSync(join(root, "node_modules")))
    if (name !== "@sluice") symlinkSync(join(root, "node_modules", name), join(modules, name))
  for (const name of readdirSync(join(folder, "packages")))
    symlinkSync(join(folder, "packages", name), join(modules, "@sluice", name))
  return ["--conditions=@sluice/source", join(folder, "apps/demo-server/src/main.ts")]
}
