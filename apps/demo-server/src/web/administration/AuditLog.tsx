/** Who changed what, when, and from where; the newest first. */
import type { AuditLine } from "../api/account.ts"
import { PagedRows } from "../page/PagedList.tsx"
import { usd } from "../ui/format.ts"
import { auditLog, users } from "./administration.ts"

const dateTime = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** Known actions; others are shown by their name. */
const ACTIONS: Record<string, string> = {
  "user.create": "created the user",
  "user.update": "changed the user",
  "access_token.create": "created an access token for",
  "token.create": "created the key",
  "token.update": "changed the key",
  "token.remove": "deleted the key",
  "session.open": "signed in",
  "session.close": "signed out"
}

const nameOf = (id: string): string => users.rows.value?.find((user) => user.id === id)?.username ?? id

const isEmpty = (value: unknown): boolean => value === null || value === ""

const valueText = (key: string, value: AuditLine["details"][string]): string => {
  if (isEmpty(value)) return "none"
  if (key === "status") return value === 1 ? "enabled" : "disabled"
  if (key.endsWith("quota") && typeof value === "number")
    return `${value < 0 ? "−" : ""}${usd(Math.abs(value))}`
  if (key.endsWith("_at") && typeof value === "number") return dateTime.format(new Date(value))
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** Leaves out the name, which is shown before, and the empty values of a creation. */
const detailsText = (action: string, details: AuditLine["details"]): string =>
  Object.entries(details)
    .filter(([key, value]) => key !== "username" && !(action.endsWith(".create") && isEmpty(value)))
    .map(([key, value]) => `${key.replaceAll("_", " ")} ${valueText(key, value)}`)
    .join(", ")

const Line = ({ line }: { readonly line: AuditLine }) => {
  const { action, address, details, subject, time } = line
  const isSession = action.startsWith("session.")
  const of = subject === "" || isSession ? "" : action.startsWith("token.") ? subject : nameOf(subject)
  const at = new Date(time * 1000)
  return (
    <li>
      <p>
        <b>{nameOf(line.user)}</b> {ACTIONS[action] ?? action} {of}
        {!isSession && Object.keys(details).length > 0 && (
          <span class="quiet"> {detailsText(action, details)}</span>
        )}
      </p>
      <p class="facts-line quiet">
        <time dateTime={at.toISOString()}>{dateTime.format(at)}</time>
        <span>by {line.by}</span>
        {address !== "" && <span>from {address}</span>}
      </p>
    </li>
  )
}

export const AuditLog = () => (
  <section class="keys-list audit" aria-labelledby="audit-title">
    <h2 id="audit-title">Audit log</h2>
    <PagedRows
      list={auditLog}
      empty="No changes yet."
      more="Show more of the log"
      row={(line) => <Line key={line.id} line={line} />}
    />
  </section>
)
