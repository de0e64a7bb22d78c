/** Light, dark, or as the system has it; remembered in this browser. */
import { effect, signal } from "@preact/signals"

export type Theme = "system" | "light" | "dark"
const KEY = "sluice-theme"

const stored = (): Theme => {
  try {
    const value = localStorage.getItem(KEY)
    return value === "light" || value === "dark" ? value : "system"
  } catch {
    return "system" // storage may be forbidden
  }
}

export const theme = signal<Theme>(stored())

effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset["theme"]
  else document.documentElement.dataset["theme"] = theme.value
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // it then lasts for this visit
  }
})
