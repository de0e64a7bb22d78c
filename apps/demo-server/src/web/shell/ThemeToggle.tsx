/** System, light, dark: one button goes round. */
import { theme, type Theme } from "../page/theme.ts"

const NEXT: Record<Theme, Theme> = { system: "light", light: "dark", dark: "system" }
const NAME: Record<Theme, string> = { system: "as the system", light: "light", dark: "dark" }
const ICON: Record<Theme, string> = {
  system: "M10 3a7 7 0 1 0 0 14z M10 3a7 7 0 0 1 0 14",
  light:
    "M10 6.500a3.500 3.500 0 1 0 0 7 3.500 3.500 0 0 0 0-7M10 1.500v2M10 16.500v2M1.500 10h2M16.500 10h2M4 4l1.400 1.400M14.600 14.600 16 16M4 16l1.400-1.400M14.600 5.400 16 4",
  dark: "M16.500 12A7 7 0 0 1 8 3.500 7 7 0 1 0 16.500 12Z"
}

export const ThemeToggle = () => {
  const now = theme.value
  const label = `Light: ${NAME[now]}. Change to ${NAME[NEXT[now]]}.`
  return (
    <button
      class="icon"
      type="button"
      aria-label={label}
      title={label}
      onClick={() => (theme.value = NEXT[now])}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true" data-theme-icon={now}>
        <path d={ICON[now]} />
      </svg>
    </button>
  )
}
