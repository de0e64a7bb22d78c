/** Measures the layout of the source: folder sizes, mutual imports, function lengths, ambiguous names. */
import { dirname } from "node:path"
import { resolveRelative, type SourceFile } from "./SourceFile.ts"

/** Folders with more source files than `most`, as `folder: count`. */
export const fullFolders = (files: ReadonlyArray<SourceFile>, most: number): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1)
  return [...counts].filter(([, count]) => count > most).map(([folder, count]) => `${folder}: ${count} files`)
}

/** Functions longer than `most` lines, as `path:line lines`. */
export const longFunctions = (files: ReadonlyArray<SourceFile>, most: number): ReadonlyArray<string> =>
  files.flatMap(({ functions, path }) =>
    functions.filter(({ lines }) => lines > most).map(({ line, lines }) => `${path}:${line} ${lines} lines`)
  )

/** Names that several files declare and export, as `name: paths`. */
export const ambiguousNames = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> => {
  const homes = new Map<string, Array<string>>()
  for (const { exports, path } of files) {
    for (const name of exports) homes.set(name, [...(homes.get(name) ?? []), path])
  }
  return [...homes]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(", ")}`)
}

/** Pairs of folders that import each other, with one import of each direction. Type imports count. */
export const mutualFolders = (files: ReadonlyArray<SourceFile>): ReadonlyArray<string> => {
  const proof = new Map<string, string>()
  for (const { imports, path } of files) {
    for (const { line, specifier } of imports) {
      if (!specifier.startsWith(".")) continue
      const [from, to] = [dirname(path), dirname(resolveRelative(path, specifier))]
      if (from !== to) proof.set(`${from} → ${to}`, `${path}:${line}`)
    }
  }
  return [...proof].flatMap(([edge, line]) => {
    const [from = "", to = ""] = edge.split(" → ")
    const back = proof.get(`${to} → ${from}`)
    return from < to && back !== undefined ? [`${from} ⇄ ${to} (${line}, ${back})`] : []
  })
}
