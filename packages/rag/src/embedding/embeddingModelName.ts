/** What a collection's manifest calls an embedding model: everything that changes its vectors. */
import type { EmbedderModel } from "@sluice/core"

/** The identifier, and the prefixes where the model has any. */
export const embeddingModelName = ({ id, prefixes }: EmbedderModel): string => {
  const { passage = "", query = "" } = prefixes ?? {}
  return query === "" && passage === ""
    ? id
    : `${id} with prefixes ${JSON.stringify(query)} and ${JSON.stringify(passage)}`
}
