import { Effect } from "effect"
import type { Parsed } from "../../Document.ts"
import { RagError } from "../../RagError.ts"
export const parsePdf = (path: string, _bytes: Uint8Array): Effect.Effect<Parsed, RagError> =>
  Effect.fail(
    new RagError({
      stage: "parse",
      reason: "UnsupportedFormat",
      message: `${path}: PDF is not read yet`,
      document: path
    })
  )
