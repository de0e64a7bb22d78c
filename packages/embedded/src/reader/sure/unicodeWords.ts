/** Patterns whose `\b` knows letters beyond ASCII. */
const BOUNDARY = "(?:(?<=[\\p{L}\\p{N}])(?![\\p{L}\\p{N}])|(?<![\\p{L}\\p{N}])(?=[\\p{L}\\p{N}]))"

export const unicodeWords = <Name extends string>(
  patterns: Readonly<Record<Name, RegExp>>
): Readonly<Record<Name, RegExp>> =>
  Object.fromEntries(
    Object.entries<RegExp>(patterns).map(([name, { flags, source }]) => [
      name,
      new RegExp(source.replaceAll("\\b", BOUNDARY), flags)
    ])
  ) as Readonly<Record<Name, RegExp>>
