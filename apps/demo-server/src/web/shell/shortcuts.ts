/** Keyboard shortcuts. They are off while text is typed. */
import { QUESTION_ID } from "../ask/QuestionBox.tsx"
import { navigate } from "../page/route.ts"
import { closeSource, source, stepCitation } from "../source/source.ts"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")

/** Whether an element scrolls sideways. */
const scrollsSideways = (target: EventTarget | null): boolean =>
  target instanceof Element && target.scrollWidth > target.clientWidth

const STEPS: Record<string, 1 | -1> = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }

/** `/`: the question box. J, K or arrows: next and previous citation. Escape: close the source. */
export const listenToShortcuts = (): void =>
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
      // The question box takes the focus when the view appears.
      if (box === null) navigate("#ask")
      else box.focus()
      return
    }
    const step = STEPS[event.key]
    // Without an open source, and in a wide element, arrows scroll sideways.
    const scrolls = source.value === undefined || scrollsSideways(event.target)
    if (step === undefined || (event.key.startsWith("Arrow") && scrolls)) return
    event.preventDefault()
    stepCitation(step)
  })
