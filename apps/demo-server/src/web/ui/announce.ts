/** What screen readers are told as it happens. */
import { signal } from "@preact/signals"

export const announcement = signal("")

/** What does not change is not said again: a space that nobody hears makes it another text. */
const UNHEARD = "\u00a0"

/** Says something politely: after what is being read now. */
export const announce = (text: string): void => {
  announcement.value = text === announcement.value ? text + UNHEARD : text
}
