/** Who came by keyboard goes on from where they were: when what has the focus goes away, the focus does not. */

/** What had the focus and is still there, the latest last. */
let had: ReadonlyArray<HTMLElement> = []

/** Whether the last shows it: who goes by keyboard sees where the focus went, who points stays where they look. */
let shown = false

const controls = (place: Element): ReadonlyArray<HTMLElement> => [
  ...place.querySelectorAll<HTMLElement>("a[href], button, input, select, textarea, summary")
]

/** Of a row that went, the same control in the row that took its place, or its last. */
const besides = (gone: Node | undefined, beside: Node | null, focused: HTMLElement) => {
  if (!(gone instanceof HTMLLIElement) || !(beside instanceof HTMLLIElement)) return undefined
  const all = controls(beside)
  return all[controls(gone).indexOf(focused)] ?? all.at(-1)
}

/** Of a button that went because a list has shown all that it has: the first row that came. */
const firstThatCame = (list: Node | null, records: ReadonlyArray<MutationRecord>) => {
  const came = records.find(({ addedNodes, target }) => target === list && addedNodes.length > 0)
  const row = came?.addedNodes[0]
  if (!(row instanceof HTMLLIElement)) return undefined
  row.tabIndex = -1
  return row
}

/** What had the focus before it, in the same part of the page; that whole part has it after a click beside everything. */
const before = (place: Element | null) =>
  had.findLast(
    (each) => each !== place && place?.contains(each) && each.checkVisibility() && !each.matches(":disabled")
  )

const onChange = (records: ReadonlyArray<MutationRecord>): void => {
  const focused = had.at(-1)
  if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return
  const removal = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(focused)))
  if (removal === undefined) return
  had = had.filter((each) => each.isConnected)
  const { nextSibling, previousSibling, removedNodes, target } = removal
  const next =
    besides(removedNodes[0], nextSibling ?? previousSibling, focused) ??
    firstThatCame(previousSibling, records) ??
    before(target instanceof Element ? target.closest("main, aside") : null) ??
    document.getElementById("main")
  next?.focus({ preventScroll: !shown })
}

export const keepFocus = (): void => {
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof HTMLElement)) return
    had = [...had.filter((each) => each !== target && each.isConnected), target]
    shown = target.matches(":focus-visible")
  })
  new MutationObserver(onChange).observe(document.body, { childList: true, subtree: true })
}
