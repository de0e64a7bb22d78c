/** The span of a passage that a model of extractive question answering marks: its windows, its logits, and its place in the text. */

/** The tokenizer, for one text or for a pair. */
export type Encode = (
  text: string,
  options: object
) => { readonly input_ids: ReadonlyArray<number>; readonly token_type_ids?: ReadonlyArray<number> }

interface TokenRange {
  readonly start: number
  readonly end: number
}

/** A question and a passage as the model gets them. */
export interface EncodedPair {
  readonly ids: ReadonlyArray<number>
  /** Which of the two a token is of, for models that are told. */
  readonly types: ReadonlyArray<number> | undefined
  readonly question: TokenRange
  readonly passage: TokenRange
}

/** Where some tokens are among all tokens. */
const rangeOf = (part: ReadonlyArray<number>, all: ReadonlyArray<number>, from: number): TokenRange => {
  for (let start = from; start + part.length <= all.length; start++)
    if (part.every((id, i) => all[start + i] === id)) return { start, end: start + part.length }
  throw new Error("The tokenizer encodes a pair in another way than its two texts. Use another model.")
}

export const encodePair = (encode: Encode, question: string, passage: string): EncodedPair => {
  const idsOf = (text: string) => encode(text, { return_tensor: false, add_special_tokens: false }).input_ids
  const { input_ids: ids, token_type_ids: types } = encode(question, {
    return_tensor: false,
    text_pair: passage
  })
  const asked = rangeOf(idsOf(question), ids, 0)
  return { ids, types, question: asked, passage: rangeOf(idsOf(passage), ids, asked.end) }
}

/** Tokens, as models of SQuAD 2 are trained and evaluated with them. */
const SQUAD = {
  /** Further tokens of a question are left out. */
  question: 64,
  /** What two windows of a long passage share, so that each answer is whole in one of them. */
  overlap: 128,
  /** The longest answer. */
  answer: 30
}

const range = (from: number, to: number): ReadonlyArray<number> =>
  Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)

/** The windows of a pair that has more than `maxTokens`: each is positions of the pair, the question and a part of the passage. */
export const windowsOf = (
  { ids, passage, question }: EncodedPair,
  maxTokens: number
): ReadonlyArray<ReadonlyArray<number>> => {
  const kept = Math.min(SQUAD.question, Math.floor(maxTokens / 2))
  const before = range(0, passage.start).filter((at) => at < question.start + kept || at >= question.end)
  const after = range(passage.end, ids.length)
  const room = Math.max(1, maxTokens - before.length - after.length)
  const step = room - Math.min(SQUAD.overlap, Math.floor(room / 2))
  const windows: Array<ReadonlyArray<number>> = []
  let from = passage.start
  for (; from + room < passage.end; from += step)
    windows.push([...before, ...range(from, from + room), ...after])
  return [...windows, [...before, ...range(from, passage.end), ...after]]
}

/**
 * The span of the passage with the highest logits in a window, as positions of the pair. `margin`: how far they are above those
 * of no answer, which are at the first token. Undefined if the window has no token of the passage.
 */
export const bestSpan = (
  { passage }: EncodedPair,
  positions: ReadonlyArray<number>,
  starts: ReadonlyArray<number>,
  ends: ReadonlyArray<number>
): (TokenRange & { readonly margin: number }) | undefined => {
  const own = [...positions.keys()].filter(
    (at) => positions[at]! >= passage.start && positions[at]! < passage.end
  )
  let best: { first: number; last: number; sum: number } | undefined
  for (const [i, first] of own.entries())
    for (const last of own.slice(i, i + SQUAD.answer)) {
      const sum = starts[first]! + ends[last]!
      if (best === undefined || sum > best.sum) best = { first, last, sum }
    }
  return (
    best && {
      start: positions[best.first]!,
      end: positions[best.last]! + 1,
      margin: best.sum - starts[0]! - ends[0]!
    }
  )
}

/** The letters and digits of a text without case and accents, and where each is in it: what tokenizers keep of it. */
const lettersOf = (text: string) => {
  let letters = ""
  const places: Array<number> = []
  let at = 0
  for (const character of text) {
    const plain = character
      .normalize("NFKD")
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, "")
    letters += plain
    places.push(...Array.from(plain, () => at))
    at += character.length
  }
  return { letters, places }
}

/**
 * Where a decoded span starts in the passage's text. Of several places, the one that is closest to the end of the decoded text
 * `before` it. Undefined if the text does not have it.
 *
 * **Details.** Decoding changes spaces, case, accents and forms of characters, and loses unknown characters.
 */
export const placeOfSpan = (before: string, span: string, text: string): number | undefined => {
  const { letters, places } = lettersOf(text)
  const wanted = lettersOf(span).letters
  const expected = lettersOf(before).letters.length
  if (wanted === "") return undefined
  let closest: number | undefined
  for (let at = letters.indexOf(wanted); at >= 0; at = letters.indexOf(wanted, at + 1))
    if (closest === undefined || Math.abs(at - expected) < Math.abs(closest - expected)) closest = at
  return closest === undefined ? undefined : places[closest]
}
