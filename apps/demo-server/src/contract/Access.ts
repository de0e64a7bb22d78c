/** Who may work on the documents: the page by its session cookie, a program by the API key. */
import { failures } from "@sluice/core/contract"
import { Context, Schema } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Role } from "./Role.ts"

/** The name of the page's session cookie. */
export const SESSION_COOKIE = "sluice_session"

/** Who asks, by their id and their name, and by which credential. */
export const Who = Schema.Struct({
  user: Schema.String,
  username: Schema.String,
  role: Role,
  by: Schema.Literals(["session", "key"])
})
export type Who = typeof Who.Type

/** Who makes the request at hand. */
export class Visitor extends Context.Service<Visitor, Who>()("@sluice/demo-server/contract/Visitor") {}

/**
 * Lets in a session cookie or an API key.
 *
 * **Gotchas.** With a cookie, requests that change something must come from the page itself: another origin's are
 * answered 403. The API key in `Authorization: Bearer` is free of that.
 */
export class Access extends HttpApiMiddleware.Service<Access, { provides: Visitor }>()(
  "@sluice/demo-server/contract/Access",
  {
    security: {
      bearer: HttpApiSecurity.bearer,
      session: HttpApiSecurity.apiKey({ in: "cookie", key: SESSION_COOKIE })
    },
    error: failures
  }
) {}
