/** What the reader must know about the server before anything else: offline, filling, a rebuild wanted. */
import { online } from "../api/request.ts"
import { session } from "../page/session.ts"
import { rebuild, rebuildFailure, rebuilding, status } from "../page/status.ts"
import { Meter } from "../ui/Meter.tsx"
import { Notice } from "../ui/Notice.tsx"

const COMMAND = "npm start"

const RebuildButton = ({ children }: { readonly children: string }) => (
  <button type="button" class="button" onClick={rebuild}>
    {children}
  </button>
)

export const Banner = () => {
  const now = status.value
  if (!online.value)
    return (
      <Notice tone="trouble" title="The server does not answer.">
        If it was stopped, start it again with <code>{COMMAND}</code>. This page looks for it every second.
      </Notice>
    )
  const progress = rebuilding.value
  if (progress !== undefined)
    return (
      <Notice tone="working" title="Rebuilding the library.">
        Every document is read again with the models of today; until then the old library stays as it is.
        <Meter label="Rebuild" done={progress.done} total={progress.total} />
      </Notice>
    )
  if (rebuildFailure.value !== undefined)
    return (
      <Notice tone="trouble" title="The rebuild failed." action={<RebuildButton>Try again</RebuildButton>}>
        {rebuildFailure.value.message}
      </Notice>
    )
  if (now?.state === "rebuild-needed")
    return (
      <Notice
        tone="trouble"
        title="The library was made with another model."
        action={session.value === "open" && <RebuildButton>Rebuild now</RebuildButton>}
      >
        {now.message ?? "Questions wait until its documents are read again with the models of today."}
      </Notice>
    )
  if (now?.state === "filling" || now?.state === "rebuilding")
    return (
      <Notice
        tone="working"
        title={now.state === "filling" ? "The library is filling." : "The library is being rebuilt."}
      >
        {now.message ?? `${now.documents.toLocaleString()} documents so far; asking works already.`}
      </Notice>
    )
  return null
}
