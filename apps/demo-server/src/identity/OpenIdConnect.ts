/** The client of the identity provider: the authorization code flow with PKCE, state and nonce. */
import { Data, Effect, Redacted } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import type { IdentitySettings } from "../config/IdentitySettings.ts"

/** Groups of one user at most. More are left out. */
const MAX_GROUPS = 500

/** How long the provider may take to respond, in seconds. */
const TIMEOUT_SECONDS = 15

/** Who signed in, as the verified ID token says. */
export interface VerifiedIdentity {
  readonly issuer: string
  readonly subject: string
  /** A name to show; undefined if the provider gives none. */
  readonly name: string | undefined
  readonly groups: ReadonlyArray<string>
}

/** The provider did not respond, or its response does not prove who signed in. */
export class IdentityError extends Data.TaggedError("IdentityError")<{ readonly cause: unknown }> {}

/** Loaded at the first sign-in, to keep the server's start fast. */
const library = Effect.promise(() => import("openid-client"))

const attempt = <A>(run: () => Promise<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new IdentityError({ cause }) })

const discover = Effect.fnUntraced(function* ({ clientId, clientSecret, issuer }: IdentitySettings) {
  const client = yield* library
  const isPublic = clientSecret === undefined
  return yield* attempt(() =>
    client.discovery(
      issuer,
      clientId,
      isPublic ? undefined : Redacted.value(clientSecret),
      isPublic ? client.None() : undefined,
      {
        timeout: TIMEOUT_SECONDS,
        // Only a loopback issuer may have it: see `isSafe` of its settings.
        ...(issuer.protocol === "http:" && { execute: [client.allowInsecureRequests] })
      }
    )
  )
})

const textOf = (value: unknown): string | undefined =>
  typeof value === "string" && value.trim() !== "" ? value.trim() : undefined

/** What the provider's callback must match. */
export interface ExpectedSignIn {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** Undefined if no identity provider is configured. */
export const makeOpenIdConnect = Effect.gen(function* () {
  const { identity } = yield* ServerConfig
  if (identity === undefined) return undefined
  // A provider that is down at the first sign-in is asked again at the next one.
  const [discovered, forget] = yield* Effect.cachedInvalidateWithTTL(discover(identity), "1 hour")
  const provider = Effect.tapError(discovered, () => forget)

  return {
    settings: identity,
    /** The address to sign in at, and what the callback must match. */
    begin: Effect.fn("OpenIdConnect.begin")(function* (redirectUri: string) {
      const client = yield* library
      const configuration = yield* provider
      const expected: ExpectedSignIn = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier()
      }
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: identity.scope,
        state: expected.state,
        nonce: expected.nonce,
        code_challenge: yield* Effect.promise(() => client.calculatePKCECodeChallenge(expected.verifier)),
        code_challenge_method: "S256"
      })
      return { expected, url }
    }),
    /** Exchanges the code of a callback and verifies the ID token. */
    complete: Effect.fn("OpenIdConnect.complete")(function* (
      callback: URL,
      { nonce, state, verifier }: ExpectedSignIn
    ) {
      const client = yield* library
      const configuration = yield* provider
      const tokens = yield* attempt(() =>
        client.authorizationCodeGrant(configuration, callback, {
          expectedNonce: nonce,
          expectedState: state,
          pkceCodeVerifier: verifier,
          idTokenExpected: true
        })
      )
      const claims = tokens.claims()
      if (claims === undefined) return yield* new IdentityError({ cause: "no ID token" })
      const groups: unknown = claims[identity.groups]
      const found: VerifiedIdentity = {
        issuer: claims.iss,
        subject: claims.sub,
        name: textOf(claims["preferred_username"]) ?? textOf(claims["email"]) ?? textOf(claims["name"]),
        groups: (Array.isArray(groups) ? groups : [groups])
          .flatMap((group) => textOf(group) ?? [])
          .slice(0, MAX_GROUPS)
      }
      return found
    })
  }
})
