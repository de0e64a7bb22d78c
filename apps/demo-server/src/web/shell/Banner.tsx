/** The server's state: offline, ingesting, or in need of a rebuild. */
import { costAndTime, type RebuildPlanBody, type ServerStatus } from "../../contract/index.ts"
import { online } from "../api/request.ts"
import { session } from "../page/session.ts"
import { rebuild, rebuildError, rebuilding, rebuildPlan, status } from "../page/status.ts"
import { pluralize } from "../ui/format.ts"
import { MessageText, Notice, ProgressBar } from "../ui/Notices.tsx"
import { Button } from "../ui/Button.tsx"

/** Titles of the states in which the server works on the library. */
const WORKING: Partial<Record<ServerStatus["state"], string>> = {
  filling: "Adding the sample documents.",
  rebuilding: "Rebuilding the library."
}

/** What a rebuild embeds; its cost and time once they are known. */
const planText = (plan: RebuildPlanBody | Pick<RebuildPlanBody, "documents" | "passages">): string => {
  const passages = `${pluralize(plan.passages, "passage")} of ${pluralize(plan.documents, "document")}`
  if (!("texts" in plan)) return `A rebuild embeds ${passages} again.`
  const kept = plan.cached > 0 ? `, ${plan.cached.toLocaleString()} of them stored already` : ""
  return `A rebuild embeds ${passages} again${kept}: about ${pluralize(plan.tokens.estimated, "token")}; ${costAndTime(plan)}.`
}

export const Banner = () => {
  const { documents = 0, passages = 0, message, state } = status.value ?? {}
  if (!online.value)
    return (
      <Notice tone="trouble" title="The server does not respond.">
        If it was stopped, start it with <code>npm start</code>. This page tries again every second.
      </Notice>
    )
  const progress = rebuilding.value
  if (progress !== undefined)
    return (
      <Notice tone="working" title="Rebuilding the library.">
        Every document is read again with the current models. The old library stays until this is done.
        <ProgressBar label="Rebuild" done={progress.done} total={progress.total} />
      </Notice>
    )
  if (rebuildError.value !== undefined)
    return (
      <Notice
        tone="trouble"
        title="The rebuild failed."
        action={<Button onClick={rebuild}>Try again</Button>}
      >
        <MessageText text={rebuildError.value.message} />
      </Notice>
    )
  // A message with code is for programs.
  if (state === "rebuild-needed")
    return (
      <Notice
        tone="trouble"
        title={`Your documents must be indexed again for the new model${documents > 0 ? ` (${documents.toLocaleString()})` : ""}.`}
        action={session.value === "open" && <Button onClick={rebuild}>Rebuild now</Button>}
      >
        {message === undefined || message.includes("`") ? "Rebuild before asking." : message}
        {documents > 0 && ` ${planText(rebuildPlan.value ?? { documents, passages })}`}
      </Notice>
    )
  if (state === "damaged")
    return (
      <Notice tone="trouble" title="Your documents are damaged.">
        {message}
      </Notice>
    )
  const title = state && WORKING[state]
  return title === undefined ? null : (
    <Notice tone="working" title={title}>
      {message ?? `${pluralize(documents ?? 0, "document")} so far. You can already ask questions.`}
    </Notice>
  )
}
