// oxlint-disable-next-line typescript/triple-slash-reference -- the library has no types of its own
/// <reference path="./wink-porter2-stemmer.d.ts" />
/** Stems of words: `running`, `runs` → `run`. */
import porter2 from "wink-porter2-stemmer"

const english = /^[a-z]{3,40}$/

/**
 * The Porter 2 (Snowball English) stem of a word in lower case.
 *
 * Words with other letters than a to z, and words of less than 3 or more than 40 letters, are returned unchanged. It takes
 * about 2 µs, so the vocabulary in Term.ts keeps the result.
 */
export const stem = (word: string): string => (english.test(word) ? porter2(word) : word)
