/** Pages and PDFs of a web site: those of a sitemap, or a page and those below its address that it leads to. */
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { Effect, Option, Stream } from "effect"
import type { SourceItem } from "@sluice/rag"
import { declaredCharset, decodeText, MAX_FILE_BYTES } from "@sluice/rag/formats"
import { readPublicFile } from "../../network/PublicFile.ts"
import type { Site } from "./Html.ts"
import { parseInPool } from "./ParseInPool.ts"
import {
  READ_SECONDS,
  type SourceAddress,
  SourceFault,
  type SourceKind,
  toSourceFault
} from "./SourceKind.ts"

const LIMITS = {
  /** Pages of a site. A larger one fails: half of it would remove the other half. */
  pages: 5_000,
  sitemaps: 100,
  pageBytes: 4 * 1024 * 1024,
  /** The protocol's own limit. */
  sitemapBytes: 50 * 1024 * 1024,
  robotsBytes: 512 * 1024,
  /** Seconds between two requests, if robots.txt asks for more. */
  delay: 10
} as const

/** Characters before the root of a sitemap. */
const XML_HEAD = 10_000
/** A comment ends at its first end, so that the time grows with the length only. */
const XML = /^[\s\uFEFF]*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(urlset|sitemapindex)\b/

/** What is still to be read. */
interface Crawl {
  readonly pending: ReadonlyArray<string>
  readonly seen: Set<string>
  readonly sitemaps: number
  /** Whether links of pages are followed: not if the address is a sitemap. */
  readonly follows: boolean
}

/** The documents of a step, and what is left. */
type Step = readonly [ReadonlyArray<SourceItem<SourceFault>>, Option.Option<Crawl>]

const isPdf = (url: string): boolean => /\.pdf$/i.test(URL.parse(url)?.pathname ?? "")

/** The path of an item. That of a PDF ends in `.pdf`, which determines its format. */
const itemPath = (source: string, url: string): string => {
  const path = `${source}/${url.replace(/^https?:\/\//, "")}`
  return isPdf(url) && !/\.pdf$/i.test(path) ? `${path}.pdf` : path
}

interface Fetched {
  readonly bytes: Buffer
  readonly type: string
  /** Where redirects led to. */
  readonly url: string
}

const folderOf = ({ pathname }: URL): string => pathname.slice(0, pathname.lastIndexOf("/") + 1)

/** The text of a page, by the charset of its header, that of the page itself, or what its bytes look like. */
const textOf = ({ bytes, type }: Fetched): string =>
  decodeText(bytes, /charset\s*=\s*"?([\w-]+)/i.exec(type)?.[1] ?? declaredCharset(bytes)) ?? bytes.toString()

/** Sitemaps may be compressed as files, whatever their server says. The limit is that of the file as it was. */
const unzipped = (fetched: Fetched, maxOutputLength: number) =>
  fetched.bytes[0] === 0x1f && fetched.bytes[1] === 0x8b
    ? Effect.tryPromise({
        try: async () => ({
          ...fetched,
          bytes: await promisify(gunzip)(fetched.bytes, { maxOutputLength })
        }),
        catch: () =>
          new SourceFault({
            message: `${fetched.url} is compressed, and is damaged or larger than ${maxOutputLength / 2 ** 20} MB`
          })
      })
    : Effect.succeed(fetched)

const tooLarge = (message: string) => new SourceFault({ message })

/** Reads addresses of a site, and what its robots.txt says. */
const siteReader = (policy: Parameters<SourceKind["open"]>[1]["policy"]) => {
  const fetch = (url: string, what: string, maxBytes: number) =>
    readPublicFile(url, {
      what,
      accept: "text/html, application/pdf;q=0.9, application/xml;q=0.9, text/plain;q=0.8",
      policy,
      maxBytes,
      seconds: READ_SECONDS
    }).pipe(
      Effect.mapError(toSourceFault),
      Effect.flatMap((fetched) => unzipped(fetched, maxBytes))
    )

  /** What robots.txt of a host says, if it allows to read this URL. */
  const rulesFor = Effect.fnUntraced(function* (url: URL, below: string) {
    const robotsUrl = new URL("/robots.txt", url).href
    const robots = yield* fetch(robotsUrl, "file robots.txt", LIMITS.robotsBytes).pipe(
      Effect.map(({ bytes }) => bytes.toString()),
      // Without the file everything is allowed. If its server fails, nothing is known.
      Effect.catchIf(
        ({ status = 0 }) => status >= 400 && status < 500,
        () => Effect.succeed("")
      )
    )
    const site: Site = { robots, below, pages: LIMITS.pages }
    const { delay, isAllowed } = yield* parseInPool(robotsUrl, "robotsJob", { site, url: url.href })
    if (isAllowed) return { site, delay }
    return yield* new SourceFault({ message: `robots.txt of ${url.host} forbids reading ${url.pathname}` })
  })
  return { fetch, rulesFor }
}

const open = Effect.fnUntraced(function* (
  { address, name }: SourceAddress,
  { policy }: Parameters<SourceKind["open"]>[1]
) {
  const given = URL.parse(address)
  if (given === null || !/^https?:$/.test(given.protocol))
    return yield* new SourceFault({ message: "The address of a site begins with https:// or http://" })
  given.hash = ""
  const { fetch, rulesFor } = siteReader(policy)
  const givenRules = yield* rulesFor(given, new URL(".", given).href)
  const firstPage = yield* fetch(given.href, "page", LIMITS.sitemapBytes)
  // A site may be at another address now: with https, with `www.`, or in another folder.
  const start = new URL(firstPage.url)
  start.hash = ""
  const folder = folderOf(start.pathname.startsWith(folderOf(given)) ? given : start)
  const { delay, site } =
    start.href === given.href ? givenRules : yield* rulesFor(start, new URL(folder, start).href)
  const wait = Effect.sleep(`${Math.min(LIMITS.delay, delay)} seconds`)
  const itemId = (url: string) => itemPath(name, url)

  const step = Effect.fnUntraced(function* ({
    follows,
    pending: [url, ...rest],
    seen,
    sitemaps
  }: Crawl): Effect.fn.Return<Step, SourceFault> {
    if (url === undefined) return [[], Option.none()] as const
    const isFirst = url === start.href
    const isSitemap = isFirst || /\.xml(?:\.gz)?(?:\?|$)/.test(url)
    const enqueue = Effect.fnUntraced(function* (
      links: ReadonlyArray<string>,
      more = 0,
      followsLinks = follows
    ) {
      const fresh = links.filter((link) => !seen.has(link))
      for (const link of fresh) seen.add(link)
      if (seen.size > LIMITS.pages)
        return yield* tooLarge(
          `The site has more than ${LIMITS.pages} pages. Give a longer address, or a sitemap of a part`
        )
      if (sitemaps + more > LIMITS.sitemaps)
        return yield* tooLarge(`The site has more than ${LIMITS.sitemaps} sitemaps. Give one of them`)
      const pending = [...rest, ...fresh]
      return pending.length === 0
        ? Option.none()
        : Option.some<Crawl>({ pending, seen, sitemaps: sitemaps + more, follows: followsLinks })
    })
    if (!isFirst) yield* wait
    const maxBytes = isSitemap ? LIMITS.sitemapBytes : isPdf(url) ? MAX_FILE_BYTES : LIMITS.pageBytes
    const got = yield* Effect.result(isFirst ? Effect.succeed(firstPage) : fetch(url, "page", maxBytes))
    const withoutPage = Effect.fnUntraced(function* (failure: SourceFault) {
      if (isFirst) return yield* failure
      // A page that is gone is not given, so that it is removed. Another failure keeps what is known of it.
      const isGone = failure.status === 404 || failure.status === 410
      return [isGone ? [] : [{ id: itemId(url), read: Effect.fail(failure) }], yield* enqueue([])] as const
    })
    if (got._tag === "Failure") return yield* withoutPage(got.failure)
    const { bytes, type, url: reached } = got.success
    // A page that redirects to one that is read for itself would be there twice.
    if (reached !== url && seen.has(reached)) return [[], yield* enqueue([])] as const
    seen.add(reached)
    if (isPdf(url) && /^application\/pdf/i.test(type))
      return [[{ path: itemId(url), bytes, url }], yield* enqueue([])] as const
    const text = textOf(got.success)
    const root = isSitemap && XML.exec(text.slice(0, XML_HEAD))?.[1]
    if (root) {
      const places = yield* parseInPool(url, "sitemapJob", { site, xml: text })
      return [[], yield* enqueue(places, root === "sitemapindex" ? places.length : 0, false)] as const
    }
    if (!/^(?:text\/html|application\/xhtml)/i.test(type))
      return isFirst
        ? yield* new SourceFault({
            message: `${address} is no page, PDF or sitemap, but ${type || "of no type"}`
          })
        : ([[], yield* enqueue([])] as const)
    const parsed = yield* Effect.result(parseInPool(url, "pageJob", { html: text, site, url: reached }))
    if (parsed._tag === "Failure") return yield* withoutPage(parsed.failure)
    const page = parsed.success
    // The pages of a sitemap are all there is to read.
    const links = page.follow && follows && url.startsWith(site.below) ? page.links : []
    const record = { id: itemId(url), url, title: page.title, format: "html" as const, text: page.content }
    return [page.index ? [record] : [], yield* enqueue(links)] as const
  })
  const first: Crawl = { pending: [start.href], seen: new Set([start.href]), sitemaps: 0, follows: true }
  return { items: Stream.paginate(first, step) }
})

export const webKind: SourceKind = {
  id: "web",
  label: "Web site",
  example: "https://example.com/docs/",
  matches: (address) => /^https?:/i.test(address),
  open
}
