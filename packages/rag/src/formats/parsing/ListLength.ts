/** A list longer than this many characters becomes one block for each of its items. */
export const LIST_WHOLE = 800
