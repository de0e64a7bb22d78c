/** INTERIM, not to be committed. */
import { RagError } from "@sluice/rag"
import { Effect } from "effect"
export const renderPage = (
  path: string,
  _bytes: Uint8Array,
  _page: number,
  _options: { dpi: number }
): Effect.Effect<Uint8Array, RagError> =>
  Effect.fail(
    new RagError({
      stage: "parse",
      reason: "UnsupportedFormat",
      message: `${path}: pages are not drawn yet`,
      document: path
    })
  )
