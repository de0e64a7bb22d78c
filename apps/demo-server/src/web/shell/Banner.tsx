/** The server's state: offline, ingesting, or in need of a rebuild. */
import { online } from "../api/request.ts"
import { session } from "../page/session.ts"
import { rebuild, rebuildError, rebuilding, status } from "../page/status.ts"
import { pluralize } from "../ui/format.ts"
import { Notice, ProgressBar } from "../ui/Notices.tsx"
import { Button } from "../ui/Button.tsx"

export const Banner = () => {
  const now = status.value
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
        {rebuildError.value.message}
      </Notice>
    )
  if (now?.state === "rebuild-needed")
    return (
      <Notice
        tone="trouble"
        title="The library was built with another model."
        action={session.value === "open" && <Button onClick={rebuild}>Rebuild now</Button>}
      >
        {now.message ?? "Rebuild before asking."}
      </Notice>
    )
  if (now?.state !== "filling" && now?.state !== "rebuilding") return null
  return (
    <Notice
      tone="working"
      title={now.state === "filling" ? "Adding the sample documents." : "Rebuilding the library."}
    >
      {now.message ?? `${pluralize(now.documents, "document")} so far. You can already ask questions.`}
    </Notice>
  )
}
