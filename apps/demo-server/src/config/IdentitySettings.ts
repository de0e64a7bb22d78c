/** Environment variables for sign-in by OpenID Connect. */
import { Effect } from "effect"
import { isLoopback } from "../network/Origin.ts"
import { invalidVariable, isHttpUrl, parsedVariable, secretVariable, textVariable } from "./Variables.ts"

/** Over plain HTTP, an attacker on the network could sign in as anybody. */
const isSafe = ({ hostname, protocol }: URL) => protocol === "https:" || isLoopback(hostname)

const variables = Effect.all({
  issuer: parsedVariable(
    "SLUICE_OIDC_ISSUER",
    "be an https address such as https://login.example",
    (text) => {
      const url = isHttpUrl(text) ? new URL(text) : undefined
      return url && isSafe(url) ? url : undefined
    }
  ),
  clientId: textVariable("SLUICE_OIDC_CLIENT_ID"),
  /** Undefined: a public client, with PKCE alone. */
  clientSecret: secretVariable("SLUICE_OIDC_CLIENT_SECRET"),
  scope: textVariable("SLUICE_OIDC_SCOPE"),
  groups: textVariable("SLUICE_OIDC_GROUPS"),
  name: textVariable("SLUICE_OIDC_NAME"),
  quota: parsedVariable("SLUICE_OIDC_QUOTA", "be a number of quota units: 500,000 are 1 USD", (text) =>
    /^\d{1,15}$/.test(text) ? Number(text) : undefined
  )
})

/** Undefined without an issuer. */
export const readIdentity = Effect.gen(function* () {
  const { clientId, clientSecret, groups, issuer, name, quota, scope } = yield* variables
  if (issuer === undefined) return undefined
  if (clientId === undefined)
    return yield* invalidVariable("SLUICE_OIDC_ISSUER is set, but SLUICE_OIDC_CLIENT_ID is missing")
  return {
    issuer,
    clientId,
    clientSecret,
    scope: scope ?? "openid profile email",
    /** The claim with the user's groups. */
    groups: groups ?? "groups",
    /** The provider's name on the button. */
    name: name ?? "single sign-on",
    /** The balance of a user who signs in for the first time. Undefined: unknown users are refused. */
    quota
  }
})

export type IdentitySettings = NonNullable<Effect.Success<typeof readIdentity>>
