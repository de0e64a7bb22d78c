/** Who changed what, when, and from where; the newest first. */
import type { Entry } from "../api/administration.ts"
import { log, users } from "./administration.ts"
import { usd } from "../ui/money.ts"
import { Loading } from "../ui/Loading.tsx"
import { Problem } from "../ui/Problem.tsx"

const when = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** Those that are known; another is shown as it is called. */
const DONE: Record<string, string> = {
  "user.create": "made the user",
  "user.update": "changed the user",
  "access_token.create": "made an access token for",
  "token.create": "made the key",
  "token.update": "changed the key",
  "token.remove": "deleted the key",
  "session.open": "signed in",
  "session.close": "signed out"
}

const nameOf = (id: string): string => users.rows.value?.find((user) => user.id === id)?.username ?? id

const valueOf = (key: string, value: Entry["details"][string]): string => {
  if (value === null || value === "") return "none"
  if (key === "status") return value === 1 ? "enabled" : "disabled"
  if (key.endsWith("quota") && typeof value === "number")
    return `${value < 0 ? "−" : ""}${usd(Math.abs(value))}`
  if (key.endsWith("_at") && typeof value === "number") return when.format(new Date(value))
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** The name is said already; what was made says nothing of what it has not. */
const detailsOf = (action: string, details: Entry["details"]): string =>
  Object.entries(details)
    .filter(([key, value]) => {
      const has = value !== null && value !== ""
      return key !== "username" && (has || !action.endsWith(".create"))
    })
    .map(([key, value]) => `${key.replaceAll("_", " ")} ${valueOf(key, value)}`)
    .join(", ")

const Line = ({
  entry: { action, address, by, details, subject, time, user }
}: {
  readonly entry: Entry
}) => {
  const session = action.startsWith("session.")
  const of = subject === "" || session ? "" : action.startsWith("token.") ? subject : nameOf(subject)
  return (
    <li>
      <p>
        <b>{nameOf(user)}</b> {DONE[action] ?? action} {of}
        {!session && Object.keys(details).length > 0 && (
          <span class="quiet"> {detailsOf(action, details)}</span>
        )}
      </p>
      <p class="facts-line quiet">
        <time dateTime={new Date(time * 1000).toISOString()}>{when.format(new Date(time * 1000))}</time>
        <span>by {by}</span>
        {address !== "" && <span>from {address}</span>}
      </p>
    </li>
  )
}

export const AuditLog = () => (
  <section class="keys-list audit" aria-labelledby="audit-title">
    <h2 id="audit-title">Log of changes</h2>
    <Problem failure={log.failure.value} />
    <Loading until={log.rows.value !== undefined || log.failure.value !== undefined} />
    {log.rows.value?.length === 0 && <p class="lead">Nothing was changed yet.</p>}
    <ol>
      {log.rows.value?.map((entry) => (
        <Line key={entry.id} entry={entry} />
      ))}
    </ol>
    {log.more.value && (
      <button class="button" type="button" onClick={log.showMore}>
        Show more of the log
      </button>
    )}
  </section>
)
