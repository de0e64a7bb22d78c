/** Reads the entries of a package with TypeScript's compiler. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { API } from "typescript/unstable/sync"

const root = join(import.meta.dirname, "../..")

/** The names that each entry of a package exports, values and types, by the entry's specifier. */
export const exportedNames = (folder: string): ReadonlyMap<string, ReadonlyArray<string>> => {
  const { exports, name } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"))
  const api = new API({ cwd: root })
  try {
    const snapshot = api.updateSnapshot({ openProjects: [join(root, folder, "tsconfig.json")] })
    const [project] = snapshot.getProjects()
    if (project === undefined) throw new Error(`${folder} has no tsconfig.json`)
    return new Map(
      Object.entries<Record<string, string>>(exports).map(([entry, conditions]) => {
        const file = project.program.getSourceFile(join(root, folder, conditions["@sluice/source"] ?? ""))
        const symbol = file && project.checker.getSymbolAtLocation(file)
        if (symbol === undefined) throw new Error(`${name}: the entry ${entry} has no source`)
        const names = project.checker.getExportsOfModule(symbol).map((one) => one.name)
        return [join(name, entry), names.toSorted()]
      })
    )
  } finally {
    api.close()
  }
}
