/** Where the page is: the address after `#`, so that a question can be linked to and stepped back from. */
import { computed, effect, signal } from "@preact/signals"

const hash = signal(location.hash)
window.addEventListener("hashchange", () => {
  hash.value = location.hash
})

export type Route =
  | { readonly view: "ask"; readonly question: string | undefined }
  | { readonly view: "documents" }

export const route = computed<Route>(() => {
  if (hash.value === "#documents") return { view: "documents" }
  const question = new URLSearchParams(hash.value.slice(1)).get("q")?.trim()
  return { view: "ask", question: question === "" ? undefined : question }
})

// Another place begins at its top, under its own name.
effect(() => {
  const now = route.value
  const place = now.view === "documents" ? "Documents" : now.question
  document.title = place === undefined ? "Sluice" : `${place} · Sluice`
  scrollTo({ top: 0 })
})

export const questionHref = (question: string): string =>
  `#${new URLSearchParams({ q: question }).toString()}`

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
