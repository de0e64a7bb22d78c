/** How often V8 backtracks when it looks for all matches of an expression in a text. */
import { setFlagsFromString } from "node:v8"
import { type Attack, splitExpression } from "./checked.ts"

setFlagsFromString("--allow-natives-syntax")
/** An expression that fails after so many backtracks. Only V8's own tests have it otherwise. */
const withLimit: (source: string, flags: string, limit: number) => RegExp = new Function(
  "source, flags, limit",
  "return %NewRegExpWithBacktrackLimit(source, flags, limit)"
) as never

/** It matches nothing in the texts, and V8 does not join it with what stands beside it. */
const NEVER = "\u{E000}\u{E001}"

const QUANTIFIER = /^(?:[*+]|\{\d)/
const ESCAPE = /^\\(?:[pP]\{[^}]*\}|k<[^>]*>|u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|[^])/u

/** The end of the class that begins at `from`. With the flag `v`, classes have classes in them. */
const endOfClass = (source: string, from: number, nests: boolean): number => {
  let depth = 0
  for (let at = from; ; at++) {
    if (source[at] === "\\") at++
    else if (source[at] === "[" && (nests || at === from)) depth++
    else if (source[at] === "]" && --depth === 0) return at + 1
  }
}

/** With an alternative in each repeated part: V8 repeats a part without one in a loop that it does not count. */
const countable = (source: string, nests: boolean): string => {
  let written = ""
  for (let at = 0; at < source.length;) {
    const rest = source.slice(at)
    const isOpening = /^\((?:\?(?:[:=!]|<(?:[=!]|[^>]*>)|[a-z-]+:))?/.exec(rest)
    const atom = isOpening
      ? isOpening[0]
      : rest[0] === "["
        ? source.slice(at, endOfClass(source, at, nests))
        : (ESCAPE.exec(rest)?.[0] ?? String.fromCodePoint(rest.codePointAt(0)!))
    at += atom.length
    const repeats = QUANTIFIER.test(source.slice(at))
    if (!repeats || isOpening || /^[|^$*+?{}]$/.test(atom)) written += atom
    else written += atom === ")" ? `|${NEVER})` : `(?:${atom}|${NEVER})`
  }
  return written
}

/** Whether all matches, or that there is none, are found within so many backtracks. */
export const isWithin = (expression: string, latin: string, limit: number): boolean => {
  const { flags, source: given } = splitExpression(expression)
  const source = countable(given, flags.includes("v"))
  // Of two bytes a character: V8 leaves out alternatives that cannot match texts of one byte.
  const text = `\u{E002}${latin}`.slice(1)
  // Each alternative ends at the beginning or the end, so that only the limit makes it fail.
  const all = flags.includes("g")
    ? `(?<![^])(?:(?:${source})|[^])*(?![^])`
    : `(?<![^])[^]*?(?:${source})|(?<![^])`
  return withLimit(
    all,
    flags.replaceAll(/[gydv]/g, (flag) => (flag === "v" ? "v" : "")),
    limit
  ).test(text)
}

/** The backtracks, a tenth too many at most; infinite above `most`. */
export const stepsOf = (expression: string, text: string, most: number): number => {
  let high = 1_000
  while (!isWithin(expression, text, high)) if ((high *= 2) > most) return Infinity
  let low = high / 2
  while (high / low > 1.1) {
    const middle = Math.round((low + high) / 2)
    if (isWithin(expression, text, middle)) high = middle
    else low = middle
  }
  return high
}

/** An attack of so many characters. */
export const textOf = ({ pumps, suffix }: Attack, characters: number): string => {
  const once = pumps.reduce((sum, { pump }) => sum + pump.length, 0)
  return (
    pumps.map(({ prefix, pump }) => prefix + pump.repeat(Math.floor(characters / once))).join("") + suffix
  )
}

const ALPHABET = [..."aA0 \n\t,.;:!?-_'\"“()[]{}|#=*<>/\\@&%+~`…一。é"]

/** Attacks that are tried where `recheck` found none: one or two characters, or words of the expression, again and again. */
export const triedAttacks = (expression: string): ReadonlyArray<Attack> => {
  const words = (splitExpression(expression).source.match(/[\p{L}\p{N}]{2,}/gu) ?? []).slice(0, 20)
  const some = ALPHABET.filter((character) => expression.includes(character) || " a0\n,".includes(character))
  const pumps = [
    ...ALPHABET,
    ...words,
    ...words.map((word) => `${word} `),
    ...some.flatMap((first) => some.map((second) => first + second))
  ]
  return pumps.flatMap((pump) => ["\0", ""].map((suffix) => ({ pumps: [{ prefix: "", pump }], suffix })))
}
