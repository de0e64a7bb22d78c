/** The page's session. It starts from the one-time login of the printed address, an API key or a system access token. */
import { field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, SessionUser } from "./Access.ts"

/** Where sign-in by OpenID Connect begins, if a provider is configured. */
export const OIDC_PATH = "/session/oidc"

/** Why a sign-in by OpenID Connect led back to the page without a session, in its address as `#problem=`. */
export type SignInProblem = "expired" | "failed" | "unknown_user" | "disabled"

/**
 * One of four credentials. `login` works once, on the server's own machine. A session opened with an API key has the key's rights, others have all rights of the user.
 */
export const Credentials = Schema.Union([
  Schema.Struct({ login: field("The value after `#login=` in the printed address.", Schema.String) }),
  Schema.Struct({ accessToken: field("A system access token.", Schema.String) }),
  Schema.Struct({ apiKey: field("An API key.", Schema.String) }),
  Schema.Struct({
    invitation: field(
      "The value after `#invitation=` in an invitation link. It creates its user.",
      Schema.String
    )
  })
])

export class SessionGroup extends HttpApiGroup.make("session").add(
  /** Sets an HttpOnly, SameSite=Strict cookie. */
  HttpApiEndpoint.post("open", "/session", {
    payload: Credentials,
    success: SessionUser
  }),
  HttpApiEndpoint.get("who", "/session", { success: SessionUser }).middleware(Access),
  HttpApiEndpoint.delete("close", "/session").middleware(Access)
) {}
