/** Parts of a file's path. Both `/` and `\` separate folders. */

export const baseName = (path: string): string =>
  path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1)

/** The extension in lower case without its dot; empty if there is none. */
export const endingOf = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  return dot <= 0 ? "" : name.slice(dot + 1).toLowerCase()
}

const HIDDEN = /(?:^|[/\\])(?:\.|~\$|__MACOSX[/\\]|thumbs\.db$|desktop\.ini$)/i

/** Whether a file, or a folder above it, is hidden or made by a system, such as the `~$plan.docx` of a document that is open. */
export const isHidden = (path: string): boolean => HIDDEN.test(path)

/** The file name in words, without its extension: the title of a document that has none. */
export const titleFromPath = (path: string): string => {
  const name = baseName(path)
  const dot = name.lastIndexOf(".")
  const stem = dot <= 0 ? name : name.slice(0, dot)
  return stem.replace(/[_-]+/g, " ").trim() || name
}
