// oxlint-disable-next-line typescript/triple-slash-reference -- the library has no types of its own
/// <reference path="./wink-porter2-stemmer.d.ts" />
/** Stems of words: `running`, `runs` → `run`. */
import porter2 from "wink-porter2-stemmer"

const english = /^[a-z]{3,40}$/

/**
 * The Porter 2 (Snowball English) stem of a word in lower case.
 *
 * Words with other letters than a to z, shorter than 3 or longer than 40 letters are their own stem. It costs about
 * 2 µs: `Term.ts` remembers what it gave.
 */
export const stem = (word: string): string => (english.test(word) ? porter2(word) : word)
