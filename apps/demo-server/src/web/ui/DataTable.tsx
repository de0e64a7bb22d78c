/** Tables, and boxes that may scroll. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"
import { LinkButton } from "./Button.tsx"

interface ScrollerProps {
  readonly label: string
  readonly class?: string
  /** One element. */
  readonly children: ComponentChildren
}

/** A box that may scroll. It has a name and is a stop of the Tab key only while it scrolls. */
export const Scroller = ({ children, class: className, label }: ScrollerProps) => {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  const measure = () => {
    const element = box.current
    if (element !== null)
      setScrolls(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight)
  }
  useLayoutEffect(measure)
  // The size of what is far from view is known only when it is drawn.
  useLayoutEffect(() => {
    const element = box.current
    if (element === null) return
    const sizes = new ResizeObserver(measure)
    for (const each of [element, ...element.children]) sizes.observe(each)
    return () => sizes.disconnect()
  }, [])
  return (
    // A group, not a region: a document with many tables would have as many landmarks.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} class={className} {...(scrolls && { tabIndex: 0, role: "group", "aria-label": label })}>
      {children}
    </div>
  )
}

type TableProps = ScrollerProps & { readonly columns: ReadonlyArray<string> }

/** A table with a header row. The children are the other rows. */
export const DataTable = ({ children, class: className = "", columns, label }: TableProps) => (
  <Scroller class="wide" label={label}>
    <table class={`trace-table ${className}`}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th class="soft" key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </Scroller>
)

/** Whether to show a table in place of a chart, and the button that switches. */
export const useTableToggle = () => {
  const [asTable, setAsTable] = useState(false)
  const toggle = (
    <LinkButton aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>
      {asTable ? "Show as a chart" : "Show as a table"}
    </LinkButton>
  )
  return { asTable, toggle }
}
