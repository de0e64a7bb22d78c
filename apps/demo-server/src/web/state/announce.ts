/** What screen readers are told as it happens. */
import { signal } from "@preact/signals"

export const announcement = signal("")

/** Says something politely: after what is being read now. */
export const announce = (text: string): void => {
  announcement.value = text
}
