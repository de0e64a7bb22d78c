/** Signals whose values outlast a reload. No secrets. */
import { effect, signal, type Signal } from "@preact/signals"
import { signedIn } from "./session.ts"

/** What a user writes into fields: kept in this tab until that user signs out. The value must be JSON. */
export const persisted = <A>(name: string, initial: A): Signal<A> => {
  const now = signal(initial)
  let loaded: string | undefined
  effect(() => {
    if (signedIn.value === undefined) return
    const key = `sluice ${signedIn.value.user} ${name}`
    try {
      const stored = key === loaded ? null : sessionStorage.getItem(key)
      loaded = key
      const value: unknown = JSON.parse(stored ?? "null")
      // Another version of the page may have stored another type.
      if (value !== null && typeof value === typeof initial) now.value = value as A
      sessionStorage.setItem(key, JSON.stringify(now.value))
    } catch {
      // The browser may forbid storage, or it is full.
    }
  })
  return now
}

/** A choice of this browser, for all its users. */
export const browserSetting = (key: string, initial: string): Signal<string> => {
  const now = signal(initial)
  let loaded = false
  effect(() => {
    try {
      const stored = loaded ? null : localStorage.getItem(key)
      loaded = true
      now.value = stored ?? now.value
      localStorage.setItem(key, now.value)
    } catch {
      // The browser may forbid storage: the choice then lasts for this visit.
    }
  })
  return now
}
