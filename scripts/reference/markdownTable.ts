/** A table, or nothing if it has no rows. Code spans may hold anything but a bar. */
export const markdownTable = (
  heads: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
): ReadonlyArray<string> => {
  const line = (cells: ReadonlyArray<string>) =>
    `| ${cells.map((cell) => cell.replaceAll(/\s+/g, " ").replaceAll("|", "\\|")).join(" | ")} |`
  return rows.length === 0 ? [] : [[line(heads), line(heads.map(() => "---")), ...rows.map(line)].join("\n")]
}

/** Text outside of code spans: no HTML. */
export const plain = (text: string): string => text.replaceAll("<", "\\<")
