/** A few lines that say how things stand, and what to do. */
import type { ComponentChildren } from "preact"

interface Props {
  readonly tone: "working" | "trouble"
  readonly title: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export const Notice = ({ action, children, title, tone }: Props) => (
  <section class="notice" data-tone={tone} role={tone === "trouble" ? "alert" : "status"}>
    <div>
      <strong>{title}</strong> {children}
    </div>
    {action}
  </section>
)
