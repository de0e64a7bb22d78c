/** A value that is loaded for a component. */
import { useEffect, useState } from "preact/hooks"
import { toRequestError } from "../api/RequestError.ts"

interface Loaded<A> {
  readonly value?: A
  readonly error?: string
}

/** Loads again when a dependency changes; the value before stays until then. A late response is dropped. */
export const useLoaded = <A>(load: () => Promise<A>, dependencies: ReadonlyArray<unknown>): Loaded<A> => {
  const [loaded, setLoaded] = useState<Loaded<A>>({})
  useEffect(() => {
    let active = true
    setLoaded(({ value }) => (value === undefined ? {} : { value }))
    load().then(
      (value) => active && setLoaded({ value }),
      (thrown: unknown) => active && setLoaded((now) => ({ ...now, error: toRequestError(thrown).message }))
    )
    return () => {
      active = false
    }
  }, dependencies)
  return loaded
}
