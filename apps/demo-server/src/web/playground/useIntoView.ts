/** What begins below the fold is brought into view. */
import { useEffect, useRef } from "preact/hooks"
import type { RefObject } from "preact"

export const useIntoView = <E extends HTMLElement>(): RefObject<E | null> => {
  const ref = useRef<E>(null)
  useEffect(() => ref.current?.scrollIntoView({ block: "nearest" }), [])
  return ref
}
