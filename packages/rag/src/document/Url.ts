/** The URL of a document, checked before it is stored: pages show it as a link. */
import { Effect } from "effect"
import { formatValue } from "./Arguments.ts"
import { ingestError, type RagError } from "./RagError.ts"

const MAX_URL = 4_096
/** A browser runs none of these. */
const SCHEMES = /^(?:https?|ftp|file|s3|gs|az|git|ssh|mailto):/i

/** Undefined, or an absolute URL. Fails with `Malformed`. */
export const checkUrl = (
  path: string,
  url: string | undefined
): Effect.Effect<string | undefined, RagError> => {
  if (url === undefined) return Effect.succeed(url)
  if (typeof url === "string" && url.length <= MAX_URL && SCHEMES.test(url) && URL.canParse(url))
    return Effect.succeed(url)
  const message = `The URL of ${path} is ${formatValue(url)}. Use an absolute one, such as https://example.com/page.`
  return Effect.fail(ingestError(path, "Malformed", message))
}
