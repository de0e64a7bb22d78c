/** The two ways a call is authenticated: middlewares of the contract. */
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { failures } from "./Failure.ts"
import type { Principal } from "./Principal.ts"

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
