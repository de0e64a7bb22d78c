/** Where the page is: the address after `#`, so that a question can be linked to and stepped back from. */
import { computed, effect, signal } from "@preact/signals"
import { DEFAULT_COLLECTION } from "../api/collectionPath.ts"

const hash = signal(location.hash)
window.addEventListener("hashchange", () => {
  hash.value = location.hash
})

/** What can be tried, each under its own address. */
export const CAPABILITIES = ["embed", "rerank", "chat", "image", "video", "look"] as const
export type Capability = (typeof CAPABILITIES)[number]

export type Route =
  | {
      readonly view: "ask"
      readonly question: string | undefined
      /** Where the question is asked. */
      readonly collection: string
    }
  | { readonly view: "documents" | "models" | "account" | "administration" }
  | {
      readonly view: "playground"
      readonly capability: Capability
      /** Chosen in the list of models. */
      readonly model: string | undefined
      /** Under way, or made: an address that was kept shows it again. */
      readonly task: string | undefined
    }

const playground = (rest: string): Route => {
  const [name = "", query] = rest.split("?", 2)
  const asked = new URLSearchParams(query)
  return {
    view: "playground",
    capability: CAPABILITIES.find((each) => each === name) ?? "embed",
    model: asked.get("model") ?? undefined,
    task: asked.get("task") ?? undefined
  }
}

export const route = computed<Route>(() => {
  const place = hash.value.slice(1)
  if (place === "documents" || place === "models" || place === "account" || place === "administration")
    return { view: place }
  if (/^playground([/?]|$)/.test(place)) return playground(place.slice("playground/".length))
  const asked = new URLSearchParams(hash.value.slice(1))
  const question = asked.get("q")?.trim()
  return {
    view: "ask",
    question: question === "" ? undefined : question,
    collection: asked.get("in") ?? DEFAULT_COLLECTION
  }
})

const NAMES = {
  documents: "Documents",
  models: "Models",
  account: "Account",
  administration: "Administration",
  playground: "Playground"
}

const name = computed(() => {
  const now = route.value
  return now.view === "ask" ? now.question : NAMES[now.view]
})

/** Changes when another place is shown; a task that gets its address is no other place. */
const place = computed(() => {
  const now = route.value
  if (now.view === "playground") return `${now.view} ${now.capability}`
  return now.view === "ask" ? `${now.view} ${now.collection} ${now.question}` : now.view
})

// Another place begins at its top, under its own name.
effect(() => {
  void place.value
  document.title = name.value === undefined ? "Sluice" : `${name.value} · Sluice`
  scrollTo({ top: 0 })
})

export const questionHref = (question: string, collection: string): string => {
  const where = collection === DEFAULT_COLLECTION ? {} : { in: collection }
  return `#${new URLSearchParams({ q: question, ...where }).toString()}`
}

export const go = (href: string): void => {
  if (location.hash !== href) location.hash = href
}

/** Takes the one-time login out of the address, so that it stays in no history, and gives it. */
export const takeLogin = (): string | undefined => {
  const fragment = new URLSearchParams(location.hash.slice(1))
  const login = fragment.get("login")
  if (login === null) return undefined
  fragment.delete("login")
  const rest = fragment.toString()
  history.replaceState(null, "", `${location.pathname}${location.search}${rest === "" ? "" : `#${rest}`}`)
  hash.value = location.hash
  return login
}

export const playgroundHref = (
  capability: Capability,
  query: { readonly model?: string; readonly task?: string } = {}
): string => {
  const asked = new URLSearchParams(query).toString()
  return `#playground/${capability}${asked === "" ? "" : `?${asked}`}`
}

/** Writes the address of what is shown, without another step to go back. */
export const keepAt = (href: string): void => {
  history.replaceState(null, "", href)
  hash.value = location.hash
}
