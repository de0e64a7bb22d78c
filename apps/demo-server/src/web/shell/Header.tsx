/** Name, the places of the page, how the server is, and the light. */
import { route } from "../page/route.ts"
import { session } from "../page/session.ts"
import { Mark } from "./Mark.tsx"
import { ModelBadge } from "./ModelBadge.tsx"
import { ThemeToggle } from "./ThemeToggle.tsx"

const PLACES = [
  { view: "ask", href: "#ask", name: "Ask" },
  { view: "documents", href: "#documents", name: "Documents" },
  { view: "playground", href: "#playground", name: "Playground" },
  { view: "models", href: "#models", name: "Models" },
  { view: "account", href: "#account", name: "Account" }
] as const

export const Header = () => {
  const view = route.value.view === "administration" ? "account" : route.value.view
  return (
    <header class="header">
      <a class="brand" href="#ask" aria-label="Sluice, start">
        <Mark />
        <span>Sluice</span>
      </a>
      {session.value === "open" && (
        <nav aria-label="Main">
          {PLACES.map(({ href, name, view: place }) => (
            <a key={place} href={href} aria-current={view === place ? "page" : undefined}>
              {name}
            </a>
          ))}
        </nav>
      )}
      <ModelBadge />
      <ThemeToggle />
    </header>
  )
}
