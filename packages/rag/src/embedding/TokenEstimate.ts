/** How many tokens a text will be counted as by a model whose vocabulary is not known here. */

/** Letters of a word that make one token, on average, with the usual vocabularies. */
const LETTERS_PER_TOKEN = 6

/** The marks that models put around each text. */
const MARKS = 2

const PARTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]|[\p{L}\p{M}]+|\p{N}{1,3}|[^\s\p{L}\p{M}\p{N}]/gu

/** `estimated` as the usual vocabularies count; `atMost` by bytes, of which no token has less than one. */
export interface TokenEstimate {
  readonly estimated: number
  readonly atMost: number
}

/** Both counts of one text. */
export const estimateTokens = (text: string): TokenEstimate => {
  let estimated = MARKS
  for (const [part] of text.matchAll(PARTS)) estimated += Math.ceil(part.length / LETTERS_PER_TOKEN)
  const atMost = Buffer.byteLength(text) + MARKS
  return { estimated: Math.min(estimated, atMost), atMost }
}
