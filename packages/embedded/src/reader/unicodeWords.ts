/** Patterns whose `\b` knows Latin letters beyond ASCII. Chinese has no boundaries of words. */
const LETTER = "[\\p{Script=Latin}\\p{N}]"
const BOUNDARY = `(?:(?<=${LETTER})(?!${LETTER})|(?<!${LETTER})(?=${LETTER}))`

export const unicodeWords = <Name extends string>(
  patterns: Readonly<Record<Name, RegExp>>
): Readonly<Record<Name, RegExp>> =>
  Object.fromEntries(
    Object.entries<RegExp>(patterns).map(([name, { flags, source }]) => [
      name,
      new RegExp(source.replaceAll("\\b", BOUNDARY), flags)
    ])
  ) as Readonly<Record<Name, RegExp>>
