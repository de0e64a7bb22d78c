/** What the page reports: errors, notices, progress, and messages for screen readers. */
import { signal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import { online, type RequestError } from "../api/request.ts"

/** A message of the server, with what it has between backticks as code. */
export const MessageText = ({ text = "" }: { readonly text?: string | undefined }) => (
  <>
    {text
      .split("`")
      .map((part, i, { length }) => (i % 2 === 1 && i < length - 1 ? <code>{part}</code> : part))}
  </>
)

/** Why something failed. The banner reports that the server is offline, once for all. */
export const ErrorMessage = ({ error }: { readonly error: RequestError | undefined }) =>
  error === undefined || (error.code === "offline" && !online.value) ? null : (
    <p class="trouble" role="alert">
      <MessageText text={error.message} />
    </p>
  )

/** Shown after a delay, so that a fast response does not make it flicker. */
export const Loading = ({ until }: { readonly until: boolean }) =>
  until ? null : <p class="quiet loading">Loading…</p>

interface LoadStateProps {
  readonly error: RequestError | undefined
  readonly loaded: boolean
}

/** Why something is not shown, or not as it is now. */
export const LoadState = ({ error, loaded }: LoadStateProps) => (
  <>
    <ErrorMessage error={error} />
    <Loading until={loaded || error !== undefined} />
  </>
)

interface NoticeProps {
  readonly tone: "working" | "trouble"
  readonly title: string
  readonly action?: ComponentChildren
  readonly children: ComponentChildren
}

export const Notice = ({ action, children, title, tone }: NoticeProps) => (
  <section class="row notice screen-only" data-tone={tone} role={tone === "trouble" ? "alert" : "status"}>
    <div>
      <strong>{title}</strong> {children}
    </div>
    {action}
  </section>
)

/** A `total` of 0 is not known yet. */
export const ProgressBar = ({ done, label, total }: { label: string; done: number; total: number }) => (
  <progress
    class="meter"
    aria-label={label}
    max={Math.max(1, total)}
    {...(total > 0 ? { value: done } : {})}
  />
)

export const announcement = signal("")

/** Announces a text politely, after what is being read. An unchanged text is read again because of the added space. */
export const announce = (text: string): void => {
  announcement.value = text === announcement.value ? `${text}\u00a0` : text
}
