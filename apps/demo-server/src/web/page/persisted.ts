/** Signals whose values outlast a reload. No secrets. */
import { effect, signal, type Signal } from "@preact/signals"
import { signedIn } from "./session.ts"

type Format = Pick<typeof JSON, "parse" | "stringify">

/** Stores a value under a key, as soon as the key is known. */
const stored = <A>(storage: () => Storage, keyOf: () => string | undefined, initial: A, format: Format) => {
  const now = signal(initial)
  let loaded: string | undefined
  effect(() => {
    const key = keyOf()
    if (key === undefined) return
    try {
      const text = key === loaded ? null : storage().getItem(key)
      loaded = key
      const value: unknown = text === null ? now.value : format.parse(text)
      // Another version of the page may have stored another type.
      if (value !== null && typeof value === typeof initial) now.value = value as A
      storage().setItem(key, format.stringify(now.value))
    } catch {
      // The browser may forbid storage, or it is full: the value then lasts for this visit.
    }
  })
  return now
}

/** What a user writes into fields: kept in this tab until that user signs out. The value must be JSON. */
export const persisted = <A>(name: string, initial: A): Signal<A> => {
  const key = () => signedIn.value && `sluice ${signedIn.value.user} ${name}`
  return stored(() => sessionStorage, key, initial, JSON)
}

/** A choice of this browser, for all its users. */
export const browserSetting = (name: string, initial: string): Signal<string> => {
  const key = () => name
  return stored(() => localStorage, key, initial, { parse: String, stringify: String })
}
