/** The current view, in the address after `#`: a question can be linked to and stepped back from. */
import { computed, effect, signal } from "@preact/signals"
import { DEFAULT_COLLECTION } from "../../contract/Names.ts"

const hash = signal(location.hash)
window.addEventListener("hashchange", () => {
  hash.value = location.hash
})

/** The tabs of the playground, each with its own address. */
export const CAPABILITIES = ["embed", "rerank", "chat", "image", "video", "look"] as const
export type Capability = (typeof CAPABILITIES)[number]

/** Views without parameters, and their titles. */
const TITLES = {
  documents: "Documents",
  models: "Models",
  account: "Account",
  administration: "Administration"
} as const

type PlainView = keyof typeof TITLES

type Route =
  | { readonly view: PlainView }
  | { readonly view: "ask"; readonly question: string | undefined; readonly collection: string }
  /** The task is shown again at its address. */
  | {
      readonly view: "playground"
      readonly capability: Capability
      readonly model: string | undefined
      readonly task: string | undefined
    }

const isPlainView = (text: string): text is PlainView => Object.hasOwn(TITLES, text)

const parsePlayground = (rest: string): Route => {
  const [name = "", query] = rest.split("?", 2)
  const parameters = new URLSearchParams(query)
  return {
    view: "playground",
    capability: CAPABILITIES.find((each) => each === name) ?? "embed",
    model: parameters.get("model") ?? undefined,
    task: parameters.get("task") ?? undefined
  }
}

export const currentRoute = computed<Route>(() => {
  const text = hash.value.slice(1)
  if (isPlainView(text)) return { view: text }
  if (/^playground([/?]|$)/.test(text)) return parsePlayground(text.slice("playground/".length))
  const parameters = new URLSearchParams(text)
  return {
    view: "ask",
    question: parameters.get("q")?.trim() || undefined,
    collection: parameters.get("in") ?? DEFAULT_COLLECTION
  }
})

const title = computed(() => {
  const now = currentRoute.value
  if (now.view === "ask") return now.question
  return now.view === "playground" ? "Playground" : TITLES[now.view]
})

/** The address without a playground's model and task, which are not another view. */
const place = computed(() =>
  currentRoute.value.view === "playground" ? hash.value.split("?")[0] : hash.value
)

// Another view starts at its top.
effect(() => {
  void place.value
  document.title = title.value === undefined ? "Sluice" : `${title.value} · Sluice`
  scrollTo({ top: 0 })
})

export const questionHref = (question: string, collection: string): string => {
  const where = collection === DEFAULT_COLLECTION ? {} : { in: collection }
  return `#${new URLSearchParams({ q: question, ...where }).toString()}`
}

export const playgroundHref = (
  capability: Capability,
  query: { readonly model?: string; readonly task?: string } = {}
): string => {
  const parameters = new URLSearchParams(query).toString()
  return `#playground/${capability}${parameters === "" ? "" : `?${parameters}`}`
}

export const navigate = (href: string): void => {
  if (location.hash !== href) location.hash = href
}

/** Changes the address without a step in the history. */
export const replaceAddress = (href: string): void => {
  history.replaceState(null, "", href)
  hash.value = location.hash
}

/** Removes the one-time login from the address, so that no history keeps it, and returns it. */
export const takeLogin = (): string | undefined => {
  const login = new URLSearchParams(location.hash.slice(1)).get("login") ?? undefined
  if (login !== undefined) replaceAddress(`${location.pathname}${location.search}`)
  return login
}
