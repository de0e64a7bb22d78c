/** What a path says about its file. Both `/` and `\` separate folders. */

export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The ending in lower case without its dot; empty if there is none. */
export const endingOf = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase()
}

/** The file's name without folders and ending: the title of a document that states none. */
export const titleFromPath = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  const stem = dot <= 0 ? name : name.slice(0, dot)
  return stem.replace(/[_-]+/g, " ").trim() || name
}
