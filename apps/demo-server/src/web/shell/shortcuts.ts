/** The page's own keys; none of them works while something is being typed. */
import { QUESTION_ID } from "../ask/QuestionBox.tsx"
import { go } from "../page/route.ts"
import { closeSource, source, stepCitation } from "../source/source.ts"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")

/** Whether it is wider than it is shown. */
const isWide = (target: EventTarget | null): boolean =>
  target instanceof Element && target.scrollWidth > target.clientWidth

const STEPS: Record<string, 1 | -1> = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }

/** `/` to the question · J K or arrows from citation to citation · Escape closes the source. */
export const listenToKeys = (): void =>
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === "Escape" && source.value !== undefined) {
      event.preventDefault()
      return closeSource()
    }
    if (isTyping(event.target)) return
    if (event.key === "/") {
      event.preventDefault()
      closeSource()
      const box = document.getElementById(QUESTION_ID)
      // The welcome takes the focus by itself as it appears.
      if (box === null) go("#ask")
      else box.focus()
      return
    }
    const step = STEPS[event.key]
    // Bare arrows scroll sideways what is wide, unless a source is open to be stepped through.
    const scrolls = source.value === undefined || isWide(event.target)
    if (step === undefined || (event.key.startsWith("Arrow") && scrolls)) return
    event.preventDefault()
    stepCitation(step)
  })
