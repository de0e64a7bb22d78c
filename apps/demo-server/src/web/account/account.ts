/** Who is signed in, what is left to spend, and the keys. */
import { effect, signal, untracked } from "@preact/signals"
import {
  createKey,
  deleteKey,
  getUser,
  type Key,
  KEYS_OF_PAGE,
  listKeys,
  type NewKey,
  setStatus,
  type User
} from "../api/account.ts"
import { toFailure, type Failure } from "../api/RequestError.ts"
import { online } from "../api/request.ts"
import { announce } from "../ui/announce.ts"
import { freshToken } from "./accessTokenState.ts"
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { refreshUsage } from "./usageState.ts"

export const user = signal<User | undefined>(undefined)
export const keys = signal<ReadonlyArray<Key> | undefined>(undefined)
export const moreKeys = signal(false)
export const accountFailure = signal<Failure | undefined>(undefined)

/** A key that was just made: the only time that it is there whole. It is forgotten with the view. */
export const freshKey = signal<(Key & { readonly key: string }) | undefined>(undefined)

/** What a key did not let be done to it. */
export const keyFailure = signal<Failure | undefined>(undefined)

/** The account and the first keys, or as many as were shown. */
export const refreshAccount = async (): Promise<void> => {
  try {
    const pages = Math.max(1, Math.ceil((keys.value?.length ?? 0) / KEYS_OF_PAGE))
    const [now, ...lists] = await Promise.all([
      getUser(),
      ...Array.from({ length: pages }, (_, page) => listKeys(page))
    ])
    user.value = now
    keys.value = lists.flat()
    moreKeys.value = lists.at(-1)?.length === KEYS_OF_PAGE
    accountFailure.value = undefined
  } catch (thrown) {
    accountFailure.value = toFailure(thrown)
  }
}

export const showMoreKeys = async (): Promise<void> => {
  try {
    const shown = keys.value ?? []
    const next = await listKeys(Math.floor(shown.length / KEYS_OF_PAGE))
    const known = new Set(shown.map(({ id }) => id))
    keys.value = [...shown, ...next.filter(({ id }) => !known.has(id))]
    moreKeys.value = next.length === KEYS_OF_PAGE
  } catch (thrown) {
    accountFailure.value = toFailure(thrown)
  }
}

/** Whether it was made. */
export const makeKey = async (wanted: NewKey): Promise<boolean> => {
  keyFailure.value = undefined
  try {
    const made = await createKey(wanted)
    freshKey.value = { ...made, key: made.key ?? "" }
    announce(`The key ${made.name} was made. It is shown once: copy it now.`)
    void refreshAccount()
    return true
  } catch (thrown) {
    keyFailure.value = toFailure(thrown)
    return false
  }
}

/** What stands in the list already is changed before the server has answered, and changed back if it refuses. */
const optimistically = async (
  change: (keys: ReadonlyArray<Key>) => ReadonlyArray<Key>,
  ask: () => Promise<void>,
  done: string
): Promise<void> => {
  const before = keys.value ?? []
  keys.value = change(before)
  keyFailure.value = undefined
  try {
    await ask()
    announce(done)
  } catch (thrown) {
    keys.value = before
    keyFailure.value = toFailure(thrown)
    // Others may have changed meanwhile, here or elsewhere.
    void refreshAccount()
  }
}

export const toggleKey = ({ id, name, status }: Key): Promise<void> => {
  const next = status === 1 ? 0 : 1
  return optimistically(
    (all) => all.map((key) => (key.id === id ? { ...key, status: next } : key)),
    () => setStatus(id, next),
    `${name} is ${next === 1 ? "enabled" : "disabled"}.`
  )
}

export const removeKey = ({ id, name }: Key): Promise<void> => {
  if (freshKey.value?.id === id) freshKey.value = undefined
  return optimistically(
    (all) => all.filter((key) => key.id !== id),
    () => deleteKey(id),
    `${name} was deleted.`
  )
}

effect(() => {
  if (route.value.view !== "account") {
    freshKey.value = undefined
    freshToken.value = undefined
    keyFailure.value = undefined
  } else if (session.value === "open" && online.value)
    untracked(() => void Promise.all([refreshAccount(), refreshUsage()]))
})
