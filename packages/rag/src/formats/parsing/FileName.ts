/** Parts of a file's path. Both `/` and `\` separate folders. */

export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The extension in lower case without its dot; empty if there is none. */
export const endingOf = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase()
}

/** The file name in words, without its extension: the title of a document that has none. */
export const titleFromPath = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  const stem = dot <= 0 ? name : name.slice(0, dot)
  return stem.replace(/[_-]+/g, " ").trim() || name
}
