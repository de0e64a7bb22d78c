/** Name, the two places of the page, how the server is, and the light. */
import { route } from "../state/route.ts"
import { session } from "../state/session.ts"
import { Mark } from "./Mark.tsx"
import { ModelBadge } from "./ModelBadge.tsx"
import { ThemeToggle } from "./ThemeToggle.tsx"

export const Header = () => {
  const { view } = route.value
  return (
    <header class="header">
      <a class="brand" href="#ask" aria-label="Sluice, start">
        <Mark />
        <span>Sluice</span>
      </a>
      {session.value === "open" && (
        <nav aria-label="Main">
          <a href="#ask" aria-current={view === "ask" ? "page" : undefined}>
            Ask
          </a>
          <a href="#documents" aria-current={view === "documents" ? "page" : undefined}>
            Documents
          </a>
        </nav>
      )}
      <ModelBadge />
      <ThemeToggle />
    </header>
  )
}
