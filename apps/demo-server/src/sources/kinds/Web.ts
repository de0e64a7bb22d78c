/** Pages and PDFs of a web site: those of a sitemap, or a page and those below its address that it leads to. */
import { Effect, Option, Stream } from "effect"
import type { SourceItem } from "@sluice/rag"
import { MAX_FILE_BYTES } from "@sluice/rag/formats"
import { readPublicFile } from "../../network/PublicFile.ts"
import type { Site } from "./Html.ts"
import {
  parseInThread,
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

const tooLarge = (message: string) => new SourceFault({ message })

const open = Effect.fnUntraced(function* (
  { address, name }: SourceAddress,
  { policy }: Parameters<SourceKind["open"]>[1]
) {
  const start = URL.parse(address)
  if (start === null || !/^https?:$/.test(start.protocol))
    return yield* new SourceFault({ message: "The address of a site begins with https:// or http://" })
  start.hash = ""
  const below = new URL(".", start).href
  const fetch = (url: string, what: string, maxBytes: number) =>
    readPublicFile(url, {
      what,
      accept: "text/html, application/pdf;q=0.9, application/xml;q=0.9, text/plain;q=0.8",
      policy,
      maxBytes,
      seconds: READ_SECONDS
    }).pipe(Effect.mapError(toSourceFault))

  const robotsUrl = new URL("/robots.txt", start).href
  const robots = yield* fetch(robotsUrl, "file robots.txt", LIMITS.robotsBytes).pipe(
    Effect.map(({ bytes }) => bytes.toString()),
    // Without the file everything is allowed. If its server fails, nothing is known.
    Effect.catchIf(
      ({ status = 0 }) => status >= 400 && status < 500,
      () => Effect.succeed("")
    )
  )
  const site: Site = { robots, below, pages: LIMITS.pages }
  const rules = yield* parseInThread(robotsUrl, "robotsJob", { site, url: start.href })
  const wait = Effect.sleep(`${Math.min(LIMITS.delay, rules.delay)} seconds`)
  if (!rules.isAllowed)
    return yield* new SourceFault({
      message: `robots.txt of ${start.host} forbids reading ${start.pathname}`
    })
  const itemId = (url: string) => itemPath(name, url)

  const step = Effect.fnUntraced(function* ({
    follows,
    pending: [url, ...rest],
    seen,
    sitemaps
  }: Crawl): Effect.fn.Return<Step, SourceFault> {
    if (url === undefined) return [[], Option.none()] as const
    const isFirst = url === start.href
    const isSitemap = isFirst || /\.xml(?:\?|$)/.test(url)
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
    const got = yield* Effect.result(
      fetch(url, "page", isSitemap ? LIMITS.sitemapBytes : isPdf(url) ? MAX_FILE_BYTES : LIMITS.pageBytes)
    )
    const withoutPage = Effect.fnUntraced(function* (failure: SourceFault) {
      if (isFirst) return yield* failure
      // A page that is gone is not given, so that it is removed. Another failure keeps what is known of it.
      const isGone = failure.status === 404 || failure.status === 410
      return [isGone ? [] : [{ id: itemId(url), read: Effect.fail(failure) }], yield* enqueue([])] as const
    })
    if (got._tag === "Failure") return yield* withoutPage(got.failure)
    const text = got.success.bytes.toString()
    const root = isSitemap && XML.exec(text.slice(0, XML_HEAD))?.[1]
    if (root) {
      const places = yield* parseInThread(url, "sitemapJob", { site, xml: text })
      return [[], yield* enqueue(places, root === "sitemapindex" ? places.length : 0, false)] as const
    }
    if (isPdf(url) && /^application\/pdf/i.test(got.success.type))
      return [[{ path: itemId(url), bytes: got.success.bytes, url }], yield* enqueue([])] as const
    if (!/^(?:text\/html|application\/xhtml)/i.test(got.success.type))
      return [[], yield* enqueue([])] as const
    const parsed = yield* Effect.result(parseInThread(url, "pageJob", { html: text, site, url }))
    if (parsed._tag === "Failure") return yield* withoutPage(parsed.failure)
    const page = parsed.success
    // The pages of a sitemap are all there is to read.
    const links = page.follow && follows && url.startsWith(below) ? page.links : []
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
