/** What is written into fields outlasts a reload of its tab: for whoever wrote it, until they sign out. No secrets. */
import { effect, signal, type Signal } from "@preact/signals"
import { who } from "./session.ts"

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
      if (stored !== null) now.value = JSON.parse(stored) as A
      sessionStorage.setItem(key, JSON.stringify(now.value))
    } catch {
      // storage may be forbidden, or full
    }
  })
  return now
}
