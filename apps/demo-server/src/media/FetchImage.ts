/**
 * Images behind URLs, fetched for a caller: from public addresses alone, of bounded size, in bounded time.
 *
 * The host is resolved once; all its addresses have to be public, and the connection goes to one of those. Each redirect
 * goes through the same.
 */
import { InvalidRequest, MAX_IMAGE_BYTES } from "@sluice/core"
import { Context, type Duration, Effect, Layer } from "effect"
import { lookup } from "node:dns/promises"
import { get as getPlain, type IncomingMessage } from "node:http"
import { get as getSecure } from "node:https"
import { isIP } from "node:net"
import { ownLinks } from "./FileLinks.ts"
import { isPublicAddress } from "../network/IpAddress.ts"

/** For one image, redirects included. */
const PATIENCE: Duration.Input = "10 seconds"

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

/** Characters of a URL at most. */
const MAX_URL = 2_048

interface Address {
  readonly address: string
  readonly family: number
}

/** How names become addresses and which of those may be reached. */
export interface Reach {
  readonly resolve: (host: string) => Promise<ReadonlyArray<Address>>
  readonly mayReach: (address: string, port: number) => boolean
}

/** The public internet, on the ports of the web. */
export const publicReach: Reach = {
  resolve: (host) => lookup(host, { all: true, verbatim: true }),
  mayReach: (address, port) => (port === 80 || port === 443) && isPublicAddress(address)
}

/** Fetches the image behind a URL, for who called this server at `origin`; what comes is not yet looked at. */
export class FetchImage extends Context.Service<
  FetchImage,
  (url: string, origin: string) => Effect.Effect<Uint8Array, InvalidRequest>
>()("@sluice/demo-server/FetchImage") {
  /** From the public internet; what this server has made itself, from its folder. */
  static readonly layer = Layer.effect(
    FetchImage,
    Effect.gen(function* () {
      const readOwn = yield* ownLinks
      const fetchPublic = fetchImageWithin(publicReach)
      return Effect.fnUntraced(function* (url, origin) {
        return (yield* readOwn(url, origin)) ?? (yield* fetchPublic(url))
      })
    })
  )
}

const refuse = (message: string) => new InvalidRequest({ message, code: "invalid_image_url" })

const ADVICE = "Send the image itself as a data URI instead"

/** One answer for every address that is not public, so that nobody learns what is in our network. */
const notReachable = (host: string) =>
  refuse(`The image's host ${host.slice(0, 100)} is not publicly reachable. ${ADVICE}`)

const parse = (text: string): URL | InvalidRequest => {
  if (text.length > MAX_URL) return refuse(`The image's URL has more than ${MAX_URL} characters. ${ADVICE}`)
  if (!URL.canParse(text)) return refuse("The image's URL is not a valid http or https address.")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse("The image's URL is neither http nor https.")
  }
  return url.username === "" && url.password === ""
    ? url
    : refuse("The image's URL carries a user name or a password: leave them out.")
}

/** The address to connect to: the first, when all of them may be reached. */
const pinned = Effect.fnUntraced(function* ({ resolve, mayReach }: Reach, url: URL) {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  const family = isIP(host)
  const addresses: ReadonlyArray<Address> =
    family === 0
      ? yield* Effect.tryPromise({ try: () => resolve(host), catch: () => notReachable(host) })
      : [{ address: host, family }]
  const [first] = addresses
  if (first === undefined || !addresses.every(({ address }) => mayReach(address, port))) {
    return yield* notReachable(host)
  }
  return first
})

/** One request to one address. A redirect is a text, an image is bytes. */
const request = (url: URL, { address, family }: Address) =>
  Effect.callback<Uint8Array | string, InvalidRequest>((resume) => {
    const fail = (what: string) =>
      resume(Effect.fail(refuse(`The image behind the URL could not be fetched: ${what}. ${ADVICE}`)))
    const read = (response: IncomingMessage) => {
      const { statusCode, headers } = response
      if (REDIRECTS.has(statusCode)) {
        response.destroy()
        return resume(Effect.succeed(headers.location ?? ""))
      }
      if (statusCode !== 200) {
        response.destroy()
        return fail(`its server answered ${statusCode}`)
      }
      const chunks: Array<Buffer> = []
      let bytes = 0
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= MAX_IMAGE_BYTES) return void chunks.push(chunk)
        fail("it has more than 20 MB")
        response.destroy()
      })
      response.on("error", () => fail("it broke off"))
      response.on("aborted", () => fail("it broke off"))
      response.on("end", () => resume(Effect.succeed(new Uint8Array(Buffer.concat(chunks)))))
    }
    const get = url.protocol === "https:" ? getSecure : getPlain
    const sent = get(
      url,
      {
        agent: false,
        headers: { accept: "image/png, image/jpeg, image/webp", "accept-encoding": "identity" },
        // Nobody resolves the name a second time: it might say another address then.
        lookup: (_host, { all }, done) =>
          all === true ? done(null, [{ address, family }]) : done(null, address, family)
      },
      read
    )
    sent.on("error", () => fail("its server could not be reached"))
    return Effect.sync(() => sent.destroy())
  })

/** Fetches from where it may reach. */
export const fetchImageWithin = (
  reach: Reach
): ((url: string) => Effect.Effect<Uint8Array, InvalidRequest>) => {
  const follow = Effect.fnUntraced(function* (text: string) {
    let next = text
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const url = parse(next)
      if (url instanceof InvalidRequest) return yield* url
      const got = yield* request(url, yield* pinned(reach, url))
      if (typeof got !== "string") return got
      next = URL.canParse(got, url.href) ? new URL(got, url.href).href : got
    }
    return yield* refuse(`The image's URL redirects more than ${MAX_REDIRECTS} times. ${ADVICE}`)
  })
  return (url) =>
    Effect.timeoutOrElse(follow(url), {
      duration: PATIENCE,
      orElse: () => Effect.fail(refuse(`The image behind the URL did not come within 10 seconds. ${ADVICE}`))
    })
}
