/** Names of collections and paths of documents. The page computes them as the server does. */
import { Schema } from "effect"

/** PostgreSQL rejects NUL in text. */
export const noControls = Schema.isPattern(/^\P{Cc}*$/u, { expected: "text without control characters" })

/** The collection of requests that name none. It always exists. */
export const DEFAULT_COLLECTION = "default"

/** Letters, digits, `-`, `_` and `.`, the first a letter or a digit; 64 characters at most. */
export const COLLECTION_NAME = /^[A-Za-z0-9][A-Za-z0-9._\-]{0,63}$/v

export const CollectionName = Schema.String.check(
  Schema.isPattern(COLLECTION_NAME, {
    message: "a name of 1 to 64 letters, digits, `-`, `_` and `.`, starting with a letter or digit"
  })
)

/** Access to a shared collection. `write` includes `read`. */
export const MemberAccess = Schema.Literals(["read", "write"])
export type MemberAccess = typeof MemberAccess.Type

const COLLECTION_REFERENCE = new RegExp(
  COLLECTION_NAME.source.replace("$", String.raw`(?:@[A-Za-z0-9_\-]{1,64})?$`),
  "v"
)

/** The name of an own collection, or `name@owner` with the id of the user who shares it. */
export const CollectionReference = Schema.String.check(
  Schema.isPattern(COLLECTION_REFERENCE, {
    message:
      "a name of 1 to 64 letters, digits, `-`, `_` and `.`, starting with a letter or digit; for a shared collection, `@` and its owner's id follow"
  })
)

export const referenceOf = (name: string, owner: string): string => `${name}@${owner}`

/** Without `owner`, it is a collection of the caller. */
export const parseReference = (reference: string) => {
  const [name = "", owner] = reference.split("@")
  return { name, ...(owner !== undefined && { owner }) }
}

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
