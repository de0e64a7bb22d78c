/** Messages for screen readers. */
import { signal } from "@preact/signals"

export const announcement = signal("")

/** An unchanged text is not read again: this space makes it a different one. */
const SILENT_SPACE = "\u00a0"

/** Announces a text politely, after what is being read. */
export const announce = (text: string): void => {
  announcement.value = text === announcement.value ? text + SILENT_SPACE : text
}
