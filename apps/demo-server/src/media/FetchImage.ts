/**
 * Fetches images by URL for a caller, with protection against SSRF: public addresses only, limited size and time.
 *
 * The host is resolved once. All its addresses must be public, and the connection goes to one of them. Redirects are
 * checked in the same way.
 */
import { InvalidRequest, MAX_IMAGE_BYTES } from "@sluice/core"
import { FILE_ADVICE, readImage } from "@sluice/core/media"
import { Context, Effect, Layer } from "effect"
import type { LookupAddress } from "node:dns"
import { lookup } from "node:dns/promises"
import { get as getPlain, type IncomingMessage } from "node:http"
import { get as getSecure } from "node:https"
import { isIP } from "node:net"
import { makeFileLinks } from "./FileLinks.ts"
import { isPublicAddress } from "../network/IpAddress.ts"

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

/** Characters of a URL at most. */
const MAX_URL = 2_048

/** How host names are resolved, and which addresses may be reached. */
export interface AddressPolicy {
  readonly resolve: (host: string) => Promise<ReadonlyArray<LookupAddress>>
  readonly mayReach: (address: string, port: number) => boolean
}

/** The public internet, on ports 80 and 443. */
export const publicAddressPolicy: AddressPolicy = {
  resolve: (host) => lookup(host, { all: true, verbatim: true }),
  mayReach: (address, port) => (port === 80 || port === 443) && isPublicAddress(address)
}

/** Fetches the bytes behind a URL, without checking that they are an image. `origin`: where the caller called this server. */
export class FetchImage extends Context.Service<
  FetchImage,
  (url: string, origin: string) => Effect.Effect<Uint8Array, InvalidRequest>
>()("@sluice/demo-server/FetchImage") {
  /** From the public internet, or from the data folder for this server's own links. */
  static readonly layer = Layer.effect(
    FetchImage,
    Effect.gen(function* () {
      const readOwn = yield* makeFileLinks
      const fetchPublic = fetchImageWithin(publicAddressPolicy)
      return Effect.fnUntraced(function* (url, origin) {
        return (yield* readOwn(url, origin)) ?? (yield* fetchPublic(url))
      })
    })
  )
}

const invalid = (message: string) => new InvalidRequest({ message, code: "invalid_image_url" })

const ADVICE = "Send the image itself as a data URI"

/** The same message for all addresses that are not public, so that it reveals nothing about the network. */
const notReachable = (host: string) =>
  invalid(`The image's host ${host.slice(0, 100)} is not publicly reachable. ${ADVICE}`)

const parse = (text: string): URL | InvalidRequest => {
  if (text.length > MAX_URL) return invalid(`The image's URL has more than ${MAX_URL} characters. ${ADVICE}`)
  if (!URL.canParse(text)) return invalid("The image's URL is not a valid http or https address.")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return invalid("The image's URL is neither http nor https.")
  }
  return url.username === "" && url.password === ""
    ? url
    : invalid("The image's URL has a username or password. Leave them out.")
}

/** The address to connect to: the first one, if all may be reached. */
const resolveAddress = Effect.fnUntraced(function* ({ resolve, mayReach }: AddressPolicy, url: URL) {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)
  const family = isIP(host)
  const addresses: ReadonlyArray<LookupAddress> =
    family === 0
      ? yield* Effect.tryPromise({ try: () => resolve(host), catch: () => notReachable(host) })
      : [{ address: host, family }]
  const [first] = addresses
  if (first === undefined || !addresses.every(({ address }) => mayReach(address, port))) {
    return yield* notReachable(host)
  }
  return first
})

/** One request to one address. Returns the location of a redirect, or the bytes. */
const request = (url: URL, { address, family }: LookupAddress) =>
  Effect.callback<Uint8Array | string, InvalidRequest>((resume) => {
    const fail = (what: string) =>
      resume(Effect.fail(invalid(`The image behind the URL could not be fetched: ${what}. ${ADVICE}`)))
    const read = (response: IncomingMessage) => {
      const { statusCode, headers } = response
      if (statusCode !== 200) {
        response.destroy()
        if (REDIRECTS.has(statusCode)) return resume(Effect.succeed(headers.location ?? ""))
        return fail(`its server returned ${statusCode}`)
      }
      const chunks: Array<Buffer> = []
      let bytes = 0
      response.on("data", (chunk: Buffer) => {
        bytes += chunk.length
        if (bytes <= MAX_IMAGE_BYTES) return void chunks.push(chunk)
        fail("it has more than 20 MB")
        response.destroy()
      })
      response.on("error", () => fail("the connection was closed"))
      response.on("aborted", () => fail("the connection was closed"))
      response.on("end", () => resume(Effect.succeed(new Uint8Array(Buffer.concat(chunks)))))
    }
    const get = url.protocol === "https:" ? getSecure : getPlain
    const sent = get(
      url,
      {
        agent: false,
        headers: { accept: "image/png, image/jpeg, image/webp", "accept-encoding": "identity" },
        // The name must not be resolved again: the result could differ.
        lookup: (_host, { all }, done) =>
          all === true ? done(null, [{ address, family }]) : done(null, address, family)
      },
      read
    )
    sent.on("error", () => fail("its server could not be reached"))
    return Effect.sync(() => sent.destroy())
  })

export const fetchImageWithin = (policy: AddressPolicy) =>
  Effect.fnUntraced(
    function* (text: string) {
      let next = text
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        const url = parse(next)
        if (url instanceof InvalidRequest) return yield* url
        const got = yield* request(url, yield* resolveAddress(policy, url))
        if (typeof got !== "string") return got
        next = URL.parse(got, url.href)?.href ?? got
      }
      return yield* invalid(`The image's URL redirects more than ${MAX_REDIRECTS} times. ${ADVICE}`)
    },
    Effect.timeoutOrElse({
      duration: "10 seconds",
      orElse: () =>
        Effect.fail(invalid(`The image behind the URL was not received within 10 seconds. ${ADVICE}`))
    })
  )

/**
 * Loads an image of a request: a URL, a data URI or Base64, but never a file of this machine.
 *
 * `origin`: where the caller called this server. `param`: the field that errors name.
 */
export const loadReference = (
  fetchImage: FetchImage["Service"],
  given: string,
  param: string,
  origin: string
) =>
  Effect.gen(function* () {
    const { image } = yield* readImage<string | Uint8Array>(
      /^https?:/i.test(given) ? yield* fetchImage(given, origin) : given
    )
    if (image === undefined) return yield* new InvalidRequest({ message: "The image could not be read" })
    return image
  }).pipe(
    Effect.mapError(
      ({ code, message }) =>
        new InvalidRequest({ message: message.replace(` ${FILE_ADVICE}`, ""), code, param })
    )
  )
