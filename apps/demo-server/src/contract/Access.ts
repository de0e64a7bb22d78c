/** Who may use the documents: the page by its session cookie, a program by an API key. */
import { field, failures } from "@sluice/core/contract"
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"

/** What an API key may do with documents and collections. */
export const DocumentsPermission = Schema.Literals(["none", "read", "write"])
export type DocumentsPermission = typeof DocumentsPermission.Type

/** Endpoints that a key with `read` may call although they are no GET: they change no documents and no collections. */
export const ReadsDocuments = Context.Reference<boolean>("@sluice/demo-server/contract/ReadsDocuments", {
  defaultValue: () => false
})

/** The name of the page's session cookie, without its port: `sluice_session_3000`. */
export const SESSION_COOKIE = "sluice_session"

/** Administrators create users and read the audit log. */
export const Role = Schema.Literals(["admin", "user"])
export type Role = typeof Role.Type

/** The authenticated user, and the kind of credential. */
export const SessionUser = Schema.Struct({
  user: field("The user's id.", Schema.String),
  username: field("The user's name.", Schema.String),
  role: field("Administrators create users and read the audit log.", Role),
  by: field("The kind of credential.", Schema.Literals(["session", "key"]))
})
export type SessionUser = typeof SessionUser.Type

/** The user who makes the current request. */
export class CurrentUser extends Context.Service<CurrentUser, SessionUser>()(
  "@sluice/demo-server/contract/CurrentUser"
) {}

/**
 * Accepts a session cookie or an API key.
 *
 * **Gotchas.** With a cookie, requests that change something must come from the page's own origin; others get 403. The
 * API key in `Authorization: Bearer` works from anywhere.
 */
export class Access extends HttpApiMiddleware.Service<Access, { provides: CurrentUser }>()(
  "@sluice/demo-server/contract/Access",
  {
    security: {
      bearer: HttpApiSecurity.bearer,
      session: HttpApiSecurity.apiKey({ in: "cookie", key: SESSION_COOKIE })
    },
    error: failures
  }
) {}
