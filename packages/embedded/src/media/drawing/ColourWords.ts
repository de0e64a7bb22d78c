/** The colours that a prompt names, in English and Chinese. */
import type { Colour } from "./Colour.ts"

const of = (light: number, chroma: number, hue: number): Colour => ({ light, chroma, hue })

/** Longer words stand before words that they contain. */
const WORDS: ReadonlyArray<readonly [RegExp, Colour]> = [
  [/\b(dark ?blue|navy|indigo)\b|深蓝|藏青|靛/giu, of(0.4, 0.16, 268)],
  [/\b(red|crimson|scarlet|ruby)\b|红|赤|朱/giu, of(0.6, 0.23, 27)],
  [/\b(orange|amber|tangerine)\b|橙|橘/giu, of(0.74, 0.18, 56)],
  [/\b(gold(en)?)\b|金色|金黄/giu, of(0.8, 0.16, 85)],
  [/\b(yellow|lemon)\b|黄/giu, of(0.88, 0.18, 105)],
  [/\b(green|emerald|jade)\b|绿|翠/giu, of(0.66, 0.19, 146)],
  [/\b(teal|turquoise|cyan|aqua)\b|青/giu, of(0.75, 0.13, 195)],
  [/\b(blue|azure|cobalt)\b|蓝/giu, of(0.58, 0.19, 258)],
  [/\b(purple|violet|lilac|lavender)\b|紫/giu, of(0.56, 0.21, 302)],
  [/\b(pink|magenta|rose)\b|粉|玫瑰/giu, of(0.74, 0.17, 355)],
  [/\b(brown|sepia|umber)\b|棕|褐/giu, of(0.5, 0.09, 58)],
  [/\b(black|dark)\b|黑/giu, of(0.2, 0.004, 260)],
  [/\b(white|snow|ivory)\b|白|雪/giu, of(0.97, 0.004, 90)],
  [/\b(grey|gray|silver)\b|灰|银/giu, of(0.65, 0.006, 260)]
]

/** In the order in which the prompt names them, each once. */
export const colourWordsOf = (prompt: string): ReadonlyArray<Colour> => {
  const found: Array<readonly [number, Colour]> = []
  let rest = prompt.normalize("NFKC")
  for (const [pattern, colour] of WORDS) {
    const at = rest.search(pattern)
    if (at < 0) continue
    found.push([at, colour])
    // As many letters, so that the others stay where they are.
    rest = rest.replaceAll(pattern, (word) => " ".repeat(word.length))
  }
  return found.toSorted(([a], [b]) => a - b).map(([, colour]) => colour)
}
