/** The two ways a call is authenticated: middlewares of the contract. */
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { failures } from "./Failure.ts"

/** Who makes a call, as authentication found out. Handlers read it; only the two security middlewares provide it. */
export class Principal extends Context.Service<
  Principal,
  {
    readonly user: string
    /** The API key used, by its identifier and never its value; absent for calls of `/api`. */
    readonly key?: string
  }
>()("@sluice/core/Principal") {}

/** `/v1`: `Authorization: Bearer <API key>`. */
export class ApiKeyAuth extends HttpApiMiddleware.Service<ApiKeyAuth, { provides: Principal }>()(
  "@sluice/core/ApiKeyAuth",
  { requiredForClient: true, security: { apiKey: HttpApiSecurity.bearer }, error: failures }
) {}

/** `/api`: `Authorization: Bearer <system access token>`. An API key is not one. */
export class AccessTokenAuth extends HttpApiMiddleware.Service<AccessTokenAuth, { provides: Principal }>()(
  "@sluice/core/AccessTokenAuth",
  { requiredForClient: true, security: { systemAccessToken: HttpApiSecurity.bearer }, error: failures }
) {}
