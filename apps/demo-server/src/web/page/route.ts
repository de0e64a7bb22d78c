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

const PLAIN_VIEWS = ["documents", "models", "account", "administration", "connect"] as const

/** The task is shown again at its address. */
interface PlaygroundRoute {
  readonly view: "playground"
  readonly capability: Capability
  readonly model: string | undefined
  readonly task: string | undefined
}

type Route =
  | { readonly view: (typeof PLAIN_VIEWS)[number]; readonly section?: "local" }
  | { readonly view: "ask"; readonly question: string | undefined; readonly collection: string }
  | { readonly view: "conversation"; readonly id: string }
  | PlaygroundRoute

const parsePlayground = (rest: string): PlaygroundRoute => {
  const [name = "", query] = rest.split("?", 2)
  const { model, task } = Object.fromEntries(new URLSearchParams(query))
  return {
    view: "playground",
    capability: CAPABILITIES.find((each) => each === name) ?? "embed",
    model,
    task
  }
}

export const currentRoute = computed<Route>(() => {
  const text = hash.value.slice(1)
  const view = PLAIN_VIEWS.find((each) => each === text)
  if (view !== undefined) return { view }
  if (text === "connect/local") return { view: "connect", section: "local" }
  if (/^playground([/?]|$)/.test(text)) return parsePlayground(text.slice("playground/".length))
  if (text.startsWith("conversation/"))
    return { view: "conversation", id: text.slice("conversation/".length) }
  const { in: collection = DEFAULT_COLLECTION, q } = Object.fromEntries(new URLSearchParams(text))
  return { view: "ask", question: q?.trim() || undefined, collection }
})

const title = computed(() => {
  const now = currentRoute.value
  return now.view === "ask" ? now.question : now.view.replace(/^./, (letter) => letter.toUpperCase())
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

export const conversationHref = (id: string): string => `#conversation/${encodeURIComponent(id)}`

export const playgroundHref = (capability: Capability, query?: Record<string, string>): string =>
  `#playground/${capability}${query === undefined ? "" : `?${new URLSearchParams(query).toString()}`}`

export const navigate = (href: string): void => {
  if (location.hash !== href) location.hash = href
}

/** Changes the address without a step in the history. */
export const replaceAddress = (href: string): void => {
  history.replaceState(null, "", href)
  hash.value = location.hash
}

/** Removes a one-time value from the address, so that no history keeps it, and returns it. */
export const takeFromAddress = (name: "login" | "invitation" | "problem"): string | undefined => {
  const value = new URLSearchParams(location.hash.slice(1)).get(name) ?? undefined
  if (value !== undefined) replaceAddress(`${location.pathname}${location.search}`)
  return value
}
