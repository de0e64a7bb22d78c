/** Names of collections and paths of documents. The page computes them as the server does. */
import { Schema } from "effect"

/** The collection of requests that name none. It always exists. */
export const DEFAULT_COLLECTION = "default"

/** Letters, digits, `-`, `_` and `.`, the first a letter or a digit; 64 characters at most. */
export const COLLECTION_NAME = /^[A-Za-z0-9][A-Za-z0-9._\-]{0,63}$/v

export const CollectionName = Schema.String.check(
  Schema.isPattern(COLLECTION_NAME, {
    message: "a name of 1 to 64 letters, digits, `-`, `_` and `.`, starting with a letter or digit"
  })
)

/** Converts the filename of an upload to a relative path with `/`, without `.`, `..`, a drive letter or control characters. */
export const documentPath = (filename: string): string =>
  filename
    .replaceAll("\\", "/")
    .replace(/^[A-Za-z]:/, "")
    // oxlint-disable-next-line no-control-regex -- removing them is the purpose
    .replaceAll(/[\u0000-\u001f\u007f]/g, "")
    .split("/")
    .filter((step) => step !== "" && step !== "." && step !== "..")
    .join("/")
