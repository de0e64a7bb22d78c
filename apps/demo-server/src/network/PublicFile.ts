/**
 * Opens files by URL, with protection against SSRF: public addresses only.
 *
 * The host is resolved once. All its addresses must be public, and the connection goes to one of them. Redirects are
 * checked in the same way.
 */
import * as NodeStream from "@effect/platform-node/NodeStream"
import { Context, Effect } from "effect"
import type { LookupAddress } from "node:dns"
import { lookup } from "node:dns/promises"
import { get as getPlain, type IncomingMessage } from "node:http"
import { get as getSecure } from "node:https"
import { isIP } from "node:net"
import { isPublicAddress } from "./IpAddress.ts"

const MAX_REDIRECTS = 3
const REDIRECTS: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

/** Characters of a URL at most. Signed links are long. */
const MAX_URL = 8_192

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

/** The server's policy. */
export const ServerAddressPolicy = Context.Reference<AddressPolicy>(
  "@sluice/demo-server/ServerAddressPolicy",
  { defaultValue: () => publicAddressPolicy }
)

/** Why a file was not opened: a sentence without its full stop, and the status of the file's server. */
export interface FileFault {
  readonly message: string
  readonly status?: number | undefined
  /** Whether the URL itself is invalid. */
  readonly isInvalid?: boolean
}

/** What to open, and how messages name it: `image`. */
export interface FileRequest {
  readonly what: string
  readonly accept: string
  readonly policy: AddressPolicy
  /** Characters of the URL at most. */
  readonly maxUrl?: number
  /** The origin that may have any address, because the operator has configured it. */
  readonly trustedOrigin?: string
}

const parse = (text: string, { maxUrl = MAX_URL, what }: FileRequest): URL | FileFault => {
  if (text.length > maxUrl) return { message: `The ${what}'s URL has more than ${maxUrl} characters` }
  const invalid = (message: string) => ({ message: `The ${what}'s URL ${message}`, isInvalid: true })
  if (!URL.canParse(text)) return invalid("is not a valid http or https address")
  const url = new URL(text)
  if (url.protocol !== "http:" && url.protocol !== "https:") return invalid("is neither http nor https")
  return url.username === "" && url.password === ""
    ? url
    : invalid("has a username or password. Leave them out")
}

const portOf = (url: URL): number =>
  url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port)

/** The address to connect to: the first one, if all may be reached. */
const resolveAddress = Effect.fnUntraced(function* (
  { policy: { mayReach, resolve }, trustedOrigin, what }: FileRequest,
  url: URL
) {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1")
  const port = portOf(url)
  const family = isIP(host)
  // The same message for all addresses that are not public, so that it reveals nothing about the network.
  const fault: FileFault = { message: `The ${what}'s host ${host.slice(0, 100)} is not publicly reachable` }
  const addresses: ReadonlyArray<LookupAddress> =
    family === 0
      ? yield* Effect.tryPromise({ try: () => resolve(host), catch: () => fault })
      : [{ address: host, family }]
  const [first] = addresses
  const isAllowed = url.origin === trustedOrigin || addresses.every(({ address }) => mayReach(address, port))
  return first === undefined || !isAllowed ? yield* Effect.fail(fault) : first
})

/** The address and port of a URL's host, for a program that connects by itself. */
export const resolvePublic = (url: URL, of: Pick<FileRequest, "what" | "policy">) =>
  Effect.map(resolveAddress({ ...of, accept: "" }, url), ({ address }) => ({ address, port: portOf(url) }))

/** The fault of a file whose server failed. */
const notFetched = ({ what }: Pick<FileRequest, "what">, why: string, status?: number): FileFault => ({
  message: `The ${what} behind the URL could not be fetched: ${why}`,
  status
})

/** One request to one address. Returns the location of a redirect, or the response. */
const request = (of: FileRequest, url: URL, { address, family }: LookupAddress) =>
  Effect.callback<IncomingMessage | string, FileFault>((resume) => {
    const get = url.protocol === "https:" ? getSecure : getPlain
    const sent = get(
      url,
      {
        agent: false,
        headers: { accept: of.accept, "accept-encoding": "identity" },
        // The name must not be resolved again: the result could differ.
        lookup: (_host, { all }, done) =>
          all === true ? done(null, [{ address, family }]) : done(null, address, family)
      },
      (response) => {
        const { headers, statusCode } = response
        // An error before the caller listens must not end the process.
        response.on("error", () => {})
        if (statusCode === 200) return resume(Effect.succeed(response))
        response.destroy()
        return resume(
          REDIRECTS.has(statusCode)
            ? Effect.succeed(headers.location ?? "")
            : Effect.fail(notFetched(of, `its server returned ${statusCode}`, statusCode))
        )
      }
    )
    sent.on("error", () => resume(Effect.fail(notFetched(of, "its server could not be reached"))))
    return Effect.sync(() => sent.destroy())
  })

/** Opens the file behind a URL, and says which URL the redirects led to. The caller reads or destroys the file. */
export const openPublicFile = Effect.fnUntraced(function* (text: string, of: FileRequest) {
  let next = text
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const url = parse(next, of)
    if (!(url instanceof URL)) return yield* Effect.fail(url)
    const got = yield* request(of, url, yield* resolveAddress(of, url))
    if (typeof got !== "string") return { file: got, url: url.href }
    next = URL.parse(got, url.href)?.href ?? got
  }
  return yield* Effect.fail<FileFault>({
    message: `The ${of.what}'s URL redirects more than ${MAX_REDIRECTS} times`
  })
})

interface ReadRequest extends FileRequest {
  readonly maxBytes: number
  readonly seconds: number
}

/** Reads the file behind a URL into memory. */
export const readPublicFile = (url: string, of: ReadRequest) =>
  Effect.gen(function* () {
    const opened = yield* openPublicFile(url, of)
    const bytes = yield* NodeStream.toArrayBuffer(() => opened.file, {
      maxBytes: of.maxBytes,
      onError: (cause) =>
        cause instanceof NodeStream.MaxBytesError
          ? notFetched(of, `it has more than ${of.maxBytes / 2 ** 20} MB`)
          : notFetched(of, "the connection was closed")
    })
    const { "content-type": type = "" } = opened.file.headers
    return { bytes: Buffer.from(bytes), type, url: opened.url }
  }).pipe(
    Effect.timeoutOrElse({
      duration: `${of.seconds} seconds`,
      orElse: () =>
        Effect.fail<FileFault>({
          message: `The ${of.what} behind the URL was not received within ${of.seconds} seconds`
        })
    })
  )
