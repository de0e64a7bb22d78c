/** The header: the name, the views, the server's models, and the theme. */
import { effect } from "@preact/signals"
import type { ServerStatus } from "../../contract/index.ts"
import { online } from "../api/request.ts"
import { browserSetting } from "../page/persisted.ts"
import { currentRoute } from "../page/route.ts"
import { session } from "../page/session.ts"
import { isDemoModel, status } from "../page/status.ts"

const Logo = () => (
  <svg class="logo" viewBox="0 0 28 28" aria-hidden="true">
    <path class="logo-posts" d="M5 3v22M23 3v22M2.5 3h23" />
    <path class="logo-gate" d="M8 7h12M8 10.5h12M8 14h12" />
    <path class="logo-water" d="M1 20c3.2-2 5.4 2 8.7 0s5.4 2 8.6 0 5.400 2 8.700 0" />
    <path class="logo-water" d="M1 24.500c3.200-2 5.400 2 8.700 0s5.400 2 8.600 0 5.400 2 8.700 0" />
  </svg>
)

const MODELS_ID = "models"

const embeddedLabel = ({ chat, embedding }: ServerStatus["models"]): string =>
  isDemoModel(embedding)
    ? "Demo models (keywords)"
    : isDemoModel(chat)
      ? "Local search, demo answers"
      : "Local models"

const ModelBadge = () => {
  const now = status.value
  if (now === undefined) return <span class="badge quiet" />
  const { chat, embedding, rerank, vision } = now.models
  const embedded = now.provider === "embedded"
  return (
    <div class="badge quiet">
      <button class="row unbroken near" type="button" popovertarget={MODELS_ID}>
        <span class="status-light" data-on={online.value ? now.state : "offline"} />
        <span class="status-text">
          {!online.value ? "Offline" : embedded ? embeddedLabel(now.models) : "Gateway"}
        </span>
      </button>
      <div id={MODELS_ID} class="card floating models" popover="auto">
        <p>
          {embedded
            ? `These models run inside the server, without a key or a network. ${isDemoModel(embedding) ? "They match words, not meaning." : "They search by meaning."}`
            : "These models answer through the configured gateway."}
        </p>
        <dl>
          {Object.entries({ Embedding: embedding, Reranking: rerank, Answers: chat, Figures: vision }).map(
            ([use, model]) => model !== undefined && [<dt key={use}>{use}</dt>, <dd key={model}>{model}</dd>]
          )}
        </dl>
        <p class="quiet">
          Sluice {now.version}. <a href="/docs">API reference</a>
        </p>
      </div>
    </div>
  )
}

const THEMES = {
  system: { next: "light", icon: "M10 3a7 7 0 1 0 0 14z M10 3a7 7 0 0 1 0 14" },
  light: {
    next: "dark",
    icon: "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7M10 1.500v2M10 16.500v2M1.500 10h2M16.500 10h2M4 4l1.400 1.400M14.600 14.600 16 16M4 16l1.400-1.400M14.600 5.400 16 4"
  },
  dark: { next: "system", icon: "M16.500 12A7 7 0 0 1 8 3.500 7 7 0 1 0 16.500 12Z" }
} as const

const theme = browserSetting("sluice-theme", "system")

const themeName = (): keyof typeof THEMES =>
  theme.value === "light" || theme.value === "dark" ? theme.value : "system"

effect(() => void (document.documentElement.dataset["theme"] = themeName()))

const ThemeToggle = () => {
  const now = themeName()
  const { icon, next } = THEMES[now]
  const label = `Theme: ${now}. Switch to ${next}.`
  return (
    <button class="icon" type="button" aria-label={label} title={label} onClick={() => (theme.value = next)}>
      <svg viewBox="0 0 20 20" aria-hidden="true" data-theme-icon={now}>
        <path d={icon} />
      </svg>
    </button>
  )
}

const VIEWS = Object.entries({
  ask: "Ask",
  documents: "Documents",
  playground: "Playground",
  models: "Models",
  account: "Account"
})

export const Header = () => {
  const { view } = currentRoute.value
  const current = view === "administration" || view === "connect" ? "account" : view
  return (
    <header class="row header screen-only">
      <a class="row unbroken brand" href="#ask" aria-label="Sluice, home">
        <Logo />
        <span>Sluice</span>
      </a>
      {session.value === "open" && (
        <nav class="row" aria-label="Main">
          {VIEWS.map(([view, name]) => (
            <a key={view} href={`#${view}`} aria-current={view === current ? "page" : undefined}>
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
