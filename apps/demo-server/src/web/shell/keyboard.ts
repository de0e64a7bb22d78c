/** Keyboard shortcuts, and the focus when its element is removed. */
import { QUESTION_ID } from "../ask/QuestionForm.tsx"
import { navigate } from "../page/route.ts"
import { closeSource, source, stepCitation } from "../source/source.ts"

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && target.matches("input, textarea, select, [contenteditable]")

const scrollsSideways = (target: EventTarget | null): boolean =>
  target instanceof Element && target.scrollWidth > target.clientWidth

const STEPS: Record<string, 1 | -1> = { j: 1, ArrowRight: 1, k: -1, ArrowLeft: -1 }

/** `/`: the question box. J, K or arrows: next and previous citation. Escape: close the source. */
export const listenToShortcuts = (): void =>
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.querySelector("dialog[open]") !== null) return
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

/** Elements that had the focus and still exist, the latest last. */
let focusHistory: ReadonlyArray<HTMLElement> = []

/** Whether the focus was visible: keyboard users see where it goes; for others the page does not scroll. */
let wasVisible = false

const controls = (element: Element): ReadonlyArray<HTMLElement> => [
  ...element.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary")
]

/** When a row is removed: the same control in the row next to it, or that row's last control. */
const inNextRow = (gone: Node | undefined, beside: Node | null, focused: HTMLElement) => {
  if (!(gone instanceof HTMLLIElement) || !(beside instanceof HTMLLIElement)) return undefined
  const all = controls(beside)
  return all[controls(gone).indexOf(focused)] ?? all.at(-1)
}

/** When a “Show more” button is removed: the first new row. */
const firstNewRow = (list: Node | null, records: ReadonlyArray<MutationRecord>) => {
  const addition = records.find(({ addedNodes, target }) => target === list && addedNodes.length > 0)
  const row = addition?.addedNodes[0]
  if (!(row instanceof HTMLLIElement)) return undefined
  row.tabIndex = -1
  return row
}

/** Otherwise: the element that had the focus before, in the same part of the page. */
const previousIn = (place: Element | null) =>
  focusHistory.findLast(
    (each) => each !== place && place?.contains(each) && each.checkVisibility() && !each.matches(":disabled")
  )

const onChange = (records: ReadonlyArray<MutationRecord>): void => {
  const focused = focusHistory.at(-1)
  if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return
  const removal = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(focused)))
  if (removal === undefined) return
  focusHistory = focusHistory.filter((each) => each.isConnected)
  const { nextSibling, previousSibling, removedNodes, target } = removal
  const next =
    inNextRow(removedNodes[0], nextSibling ?? previousSibling, focused) ??
    firstNewRow(previousSibling, records) ??
    previousIn(target instanceof Element ? target.closest("main, aside") : null) ??
    document.getElementById("main")
  next?.focus({ preventScroll: !wasVisible })
}

/** Moves the focus to a neighbour when the focused element is removed, so that keyboard users keep their place. */
export const restoreFocus = (): void => {
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    focusHistory = [...focusHistory.filter((each) => each !== target && each.isConnected), target]
    wasVisible = target.matches(":focus-visible")
  })
  new MutationObserver(onChange).observe(document.body, { childList: true, subtree: true })
}
