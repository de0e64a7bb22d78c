/** What is written into fields outlasts a reload of its tab: for whoever wrote it, until they sign out. No secrets. */
import { effect, signal, type Signal } from "@preact/signals"
import { who } from "./session.ts"

/** The page that stored it may have been another version of this one. */
const isLike = <A>(initial: A, stored: unknown): stored is A =>
  typeof initial !== "object" || initial === null
    ? typeof stored === typeof initial
    : typeof stored === "object" &&
      stored !== null &&
      Object.entries(initial).every(([name, value]) => isLike(value, Reflect.get(stored, name)))

/** A signal whose value, as JSON has it, is there again after a reload. */
export const kept = <A>(name: string, initial: A): Signal<A> => {
  const now = signal(initial)
  let before: string | undefined
  effect(() => {
    if (who.value === undefined) return
    const key = `sluice ${who.value.user} ${name}`
    try {
      const stored = key === before ? null : sessionStorage.getItem(key)
      before = key
      const value: unknown = JSON.parse(stored ?? "null")
      if (isLike(initial, value)) now.value = value
      sessionStorage.setItem(key, JSON.stringify(now.value))
    } catch {
      // storage may be forbidden, or full
    }
  })
  return now
}
