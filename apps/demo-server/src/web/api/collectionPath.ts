/** Names of collections, as the contract has them, which this page does not load. */

/** That of whoever names none. It is always there. */
export const DEFAULT_COLLECTION = "default"

/** What an input accepts. */
export const COLLECTION_PATTERN = "[A-Za-z0-9][A-Za-z0-9._\\-]{0,63}"

/** A path of the server's, of the documents of a collection. */
export const pathIn = (collection: string, path: string): string =>
  collection === DEFAULT_COLLECTION
    ? path
    : `${path}${path.includes("?") ? "&" : "?"}collection=${encodeURIComponent(collection)}`
