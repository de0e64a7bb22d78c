/** `3 passages`, `1 passage`: a count and its noun, the number grouped as the reader's language does it. */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString()} ${noun}${count === 1 ? "" : "s"}`
