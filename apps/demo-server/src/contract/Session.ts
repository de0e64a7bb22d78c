/** The page's session: opened by the one-time login of the printed address, an API key or a system access token. */
import { failures, MalformedRequest } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, Who } from "./Access.ts"

/**
 * One of the three. `login` is what follows `#login=` in the printed address; it works once, on the server's machine. A
 * session that an API key opens may do what the key may; one that a system access token opens, all that its user may.
 */
export const Credentials = Schema.Union([
  Schema.Struct({ login: Schema.String }),
  Schema.Struct({ accessToken: Schema.String }),
  Schema.Struct({ apiKey: Schema.String })
])

export class Session extends HttpApiGroup.make("session")
  .add(
    /** Answers with an HttpOnly, SameSite=Strict cookie. */
    HttpApiEndpoint.post("open", "/session", {
      payload: Credentials,
      success: Who,
      error: failures
    }),
    HttpApiEndpoint.get("who", "/session", { success: Who }).middleware(Access),
    HttpApiEndpoint.delete("close", "/session").middleware(Access)
  )
  .middleware(MalformedRequest) {}
