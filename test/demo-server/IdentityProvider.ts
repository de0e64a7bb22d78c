/** Providers of OpenID Connect on loopback: a real one, and one whose tokens are wrong on demand. */
import { Effect } from "effect"
import { generateKeyPairSync, sign } from "node:crypto"
import { createServer, type RequestListener } from "node:http"

export const CLIENT = { id: "sluice", secret: "a-secret-of-the-client-of-the-test" }

const listen = (handler: (origin: string) => RequestListener) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly origin: string; readonly close: () => void }>((resume) => {
      let serve: RequestListener
      const server = createServer((request, response) => serve(request, response))
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        const origin = `http://127.0.0.1:${typeof address === "object" ? (address?.port ?? 0) : 0}`
        serve = handler(origin)
        const close = () => {
          server.closeAllConnections()
          server.close()
        }
        resume(Effect.succeed({ origin, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

/** A browser: it keeps cookies by origin and follows no redirect by itself. */
export const makeBrowser = () => {
  const jar = new Map<string, Map<string, string>>()
  const request = async (address: string | URL, form?: Record<string, string>) => {
    const url = new URL(address)
    const cookies = jar.get(url.origin) ?? new Map<string, string>()
    jar.set(url.origin, cookies)
    const response = await fetch(url, {
      redirect: "manual",
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") },
      ...(form && { method: "POST", body: new URLSearchParams(form) })
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === "") cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get("location")
    const body = await response.text()
    return {
      status: response.status,
      body,
      headers: response.headers,
      next: location === null ? undefined : new URL(location, url).href
    }
  }
  return { request, cookies: (origin: string) => jar.get(origin) ?? new Map<string, string>() }
}
export type Browser = ReturnType<typeof makeBrowser>

interface Provider {
  readonly callback: () => RequestListener
}

/** `oidc-provider`, whose users are in the group `legal` and sign in with any password. It has no types. */
export const realProvider = (redirectUri: () => string) =>
  Effect.gen(function* () {
    const name: string = "oidc-provider"
    const { default: Real } = yield* Effect.promise(
      () => import(name) as Promise<{ default: new (issuer: string, settings: object) => Provider }>
    )
    return yield* listen((origin) => {
      const handlers = new Map<string, RequestListener>()
      const settings = () => ({
        clients: [
          {
            client_id: CLIENT.id,
            client_secret: CLIENT.secret,
            redirect_uris: [redirectUri()],
            token_endpoint_auth_method: "client_secret_post"
          }
        ],
        cookies: { keys: ["a key of the test"] },
        conformIdTokenClaims: false,
        claims: { openid: ["sub"], profile: ["preferred_username", "groups"] },
        findAccount: (_context: unknown, id: string) => ({
          accountId: id,
          claims: () => ({ sub: id, preferred_username: id, groups: ["legal", "staff"] })
        })
      })
      // The redirect address is known only once the server listens.
      return (request, response) => {
        const uri = redirectUri()
        const serve = handlers.get(uri) ?? new Real(origin, settings()).callback()
        handlers.set(uri, serve)
        serve(request, response)
      }
    })
  })

/** Signs in at the real provider, as a person would, and returns the callback's address. */
export const signInAt = async ({ request }: Browser, start: string, login: string): Promise<string> => {
  let at = start
  for (let step = 0; step < 10; step++) {
    const { body, next } = await request(at)
    if (next?.includes("/session/oidc/callback")) return next
    if (next !== undefined) {
      at = next
      continue
    }
    const [, action = ""] = /action="([^"]+)"/.exec(body) ?? []
    const [, prompt = ""] = /name="prompt" value="([^"]+)"/.exec(body) ?? []
    const sent = await request(new URL(action, at), { prompt, login, password: "any" })
    if (sent.next === undefined) throw new Error(`The provider refused: ${sent.body.slice(0, 300)}`)
    at = sent.next
  }
  throw new Error("The provider did not lead back")
}

/** What is wrong with an ID token; each call of `claimsOf` gets the right ones. */
export type Claims = Record<string, unknown>

/** A provider that issues tokens at once for the last authorization request, with the claims that `change` returns. */
export const faultyProvider = (change: (claims: Claims) => Claims) =>
  Effect.gen(function* () {
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
    let nonce = ""
    const provider = yield* listen((origin) => (request, response) => {
      const url = new URL(request.url ?? "/", origin)
      const send = (body: object) =>
        response.setHeader("content-type", "application/json").end(JSON.stringify(body))
      if (url.pathname.endsWith("openid-configuration"))
        return send({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          jwks_uri: `${origin}/jwks`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"]
        })
      if (url.pathname === "/jwks")
        return send({
          keys: [{ ...publicKey.export({ format: "jwk" }), kid: "1", alg: "RS256", use: "sig" }]
        })
      if (url.pathname === "/authorize") {
        nonce = url.searchParams.get("nonce") ?? ""
        const back = new URL(url.searchParams.get("redirect_uri") ?? "")
        back.searchParams.set("code", "any")
        back.searchParams.set("state", url.searchParams.get("state") ?? "")
        return response.writeHead(302, { location: back.href }).end()
      }
      const now = Math.floor(Date.now() / 1000)
      const claims = change({ iss: origin, sub: "ann", aud: CLIENT.id, iat: now, exp: now + 60, nonce })
      const signed = `${encode({ alg: "RS256", kid: "1" })}.${encode(claims)}`
      const id_token = `${signed}.${sign("sha256", Buffer.from(signed), privateKey).toString("base64url")}`
      return send({ access_token: "any", token_type: "Bearer", id_token })
    })
    return provider
  })
