/** The line that stands between what two programs print. */
export const END = "\u{1e}"
