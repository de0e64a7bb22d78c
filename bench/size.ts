/** Installed size: for a user of the library, and for a developer. */
import { execFile } from "node:child_process"
import { lstat, readdir, realpath } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Bench, rounded } from "./Bench.ts"

const root = join(import.meta.dirname, "..")

/** Bytes of the files below a folder, without links; without nested node_modules unless `nested`. */
const bytesOf = async (folder: string, nested: boolean): Promise<number> => {
  let sum = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory() && (nested || entry.name !== "node_modules")) sum += await bytesOf(path, nested)
    else if (entry.isFile()) sum += (await lstat(path)).size
  }
  return sum
}

/** Folders of all production dependencies of the three library packages. */
const production = async (): Promise<ReadonlyArray<string>> => {
  const packages = ["@sluice/core", "@sluice/rag", "@sluice/embedded"].flatMap((name) => [
    "--workspace",
    name
  ])
  const { stdout } = await promisify(execFile)(
    "npm",
    ["ls", "--omit=dev", "--all", "--parseable", ...packages],
    { cwd: root, encoding: "utf8" }
  )
  const modules = join(root, "node_modules")
  const paths = await Promise.all(
    stdout
      .split("\n")
      .filter(Boolean)
      .map((path) => realpath(path))
  )
  return [...new Set(paths)].filter((path) => path.startsWith(modules) && path !== join(modules, "node"))
}

export const bench: Bench = async () => {
  const megabyte = 1e6
  let library = 0
  for (const path of await production()) library += await bytesOf(path, false)
  return {
    "installed by a user of the library, without Node (MB)": rounded(library / megabyte, 0),
    "installed in the development tree (MB)": rounded(
      (await bytesOf(join(root, "node_modules"), true)) / megabyte,
      0
    )
  }
}
