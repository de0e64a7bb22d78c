/** The page's session: opened by the one-time login of the printed address, or by the API key. */
import { failures, MalformedRequest } from "@sluice/core"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access, Who } from "./Access.ts"

/** One of the two. `login` is what follows `#login=` in the printed address; it works once. */
export const Credentials = Schema.Union([
  Schema.Struct({ login: Schema.String }),
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
