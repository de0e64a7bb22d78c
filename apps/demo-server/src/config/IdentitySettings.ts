/** Environment variables for sign-in by OpenID Connect. */
import { Config, Effect, Redacted } from "effect"
import { isLoopback } from "../network/Origin.ts"
import { invalidVariable, isHttpUrl, optionalVariable, textVariable } from "./Variables.ts"

export const identityVariables = Config.unwrap({
  issuer: textVariable("SLUICE_OIDC_ISSUER"),
  clientId: textVariable("SLUICE_OIDC_CLIENT_ID"),
  clientSecret: optionalVariable(Config.Redacted("SLUICE_OIDC_CLIENT_SECRET")),
  scope: textVariable("SLUICE_OIDC_SCOPE"),
  groups: textVariable("SLUICE_OIDC_GROUPS"),
  name: textVariable("SLUICE_OIDC_NAME"),
  quota: textVariable("SLUICE_OIDC_QUOTA")
})

/** Undefined without an issuer. */
export const parseIdentity = Effect.fnUntraced(function* (found: Config.Success<typeof identityVariables>) {
  const { clientId, clientSecret, groups, issuer, name, quota, scope } = found
  if (quota !== undefined && !/^\d{1,15}$/.test(quota))
    return yield* invalidVariable("SLUICE_OIDC_QUOTA must be a number of quota units: 500,000 are 1 USD")
  if (issuer === undefined) return undefined
  const url = isHttpUrl(issuer) ? new URL(issuer) : undefined
  // Over plain HTTP, an attacker on the network could sign in as anybody.
  if (url === undefined || (url.protocol === "http:" && !isLoopback(url.hostname)))
    return yield* invalidVariable("SLUICE_OIDC_ISSUER must be an https address such as https://login.example")
  if (clientId === undefined)
    return yield* invalidVariable("SLUICE_OIDC_ISSUER is set, but SLUICE_OIDC_CLIENT_ID is missing")
  return {
    issuer: url,
    clientId,
    /** Undefined: a public client, with PKCE alone. */
    clientSecret: clientSecret && Redacted.value(clientSecret) !== "" ? clientSecret : undefined,
    scope: scope ?? "openid profile email",
    /** The claim with the user's groups. */
    groups: groups ?? "groups",
    /** The provider's name on the button. */
    name: name ?? "single sign-on",
    /** The balance of a user who signs in for the first time. Undefined: unknown users are refused. */
    quota: quota === undefined ? undefined : Number(quota)
  }
})

export type IdentitySettings = NonNullable<Effect.Success<ReturnType<typeof parseIdentity>>>
