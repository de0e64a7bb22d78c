/** What may be wider than its place: a stop of the Tab key, with a name, where it scrolls and only there. */
import type { ComponentChildren } from "preact"
import { useLayoutEffect, useRef, useState } from "preact/hooks"

interface Props {
  /** What it holds, for screen readers. */
  readonly label: string
  readonly class?: string
  /** One element. */
  readonly children: ComponentChildren
}

export const Scroller = ({ children, class: className, label }: Props) => {
  const box = useRef<HTMLDivElement>(null)
  const [scrolls, setScrolls] = useState(false)
  const measure = () => {
    const place = box.current
    if (place !== null)
      setScrolls(place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight)
  }
  // At once, as it is drawn …
  useLayoutEffect(measure)
  // … and as it changes: what is far from view has no size before it is drawn.
  useLayoutEffect(() => {
    const place = box.current
    if (place === null) return
    const sizes = new ResizeObserver(measure)
    for (const each of [place, ...place.children]) sizes.observe(each)
    return () => sizes.disconnect()
  }, [])
  return (
    // A group, not a region: a document of many tables would be one of many landmarks.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <div ref={box} class={className} {...(scrolls && { tabIndex: 0, role: "group", "aria-label": label })}>
      {children}
    </div>
  )
}
