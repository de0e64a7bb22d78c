/** A document's text as it loads. What comes late for another document is dropped. */
import { useEffect, useState } from "preact/hooks"
import type { DocumentText } from "../../contract/index.ts"
import { toFailure } from "../api/RequestError.ts"
import { loadText } from "../documents/documentTexts.ts"

/** Both absent while it loads. */
export interface Loaded {
  readonly id: string
  readonly text?: DocumentText
  readonly problem?: string
}

export const useText = (collection: string, id: string): Loaded => {
  const [loaded, setLoaded] = useState<Loaded>({ id })
  useEffect(() => {
    let here = true
    loadText(collection, id).then(
      (text) => here && setLoaded({ id, text }),
      (thrown: unknown) => here && setLoaded({ id, problem: toFailure(thrown).message })
    )
    return () => {
      here = false
    }
  }, [collection, id])
  return loaded.id === id ? loaded : { id }
}
