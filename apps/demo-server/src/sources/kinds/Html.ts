/**
 * Jobs of the pool of threads: pages and lists of the web, which are as large and as nested as their sites make them. The
 * text of pages by Readability, the links that a crawl may follow, and the texts of XML.
 */
import { Readability } from "@mozilla/readability"
import type { WorkerOutput } from "@sluice/core/workers"
import { DOMParser, parseHTML } from "linkedom"
import robotsModule from "robots-parser"

/** The package is CommonJS, and its types say otherwise. */
const robotsParser = robotsModule as unknown as typeof robotsModule.default

/** The name in robots.txt. */
const AGENT = "SluiceBot"

/** What a crawl may read. */
export interface Site {
  /** The text of robots.txt. */
  readonly robots: string
  /** Pages are below this address, */
  readonly below: string
  /** and at most so many. */
  readonly pages: number
}

const rulesOf = ({ below, robots }: Site) => robotsParser(new URL("/robots.txt", below).href, robots)

/** The allowed ones of some links, each once. One more than the site may have is enough to refuse it. */
const allowedLinks = (site: Site, links: ReadonlyArray<string>): ReadonlyArray<string> => {
  const rules = rulesOf(site)
  const allowed = new Set(links).values().filter((link) => rules.isAllowed(link, AGENT) !== false)
  return [...allowed.take(site.pages + 1)]
}

/** Whether an address may be read, and the seconds between two requests. */
export const robotsJob = ({ site, url }: { readonly site: Site; readonly url: string }) => ({
  value: { isAllowed: allowedLinks(site, [url]).length > 0, delay: rulesOf(site).getCrawlDelay(AGENT) ?? 0 }
})

interface WebPage {
  readonly title: string
  /** HTML without navigation, advertisements and scripts. */
  readonly content: string
  /** Those that may be read: absolute, without fragments. */
  readonly links: ReadonlyArray<string>
  /** What `<meta name="robots">` says. */
  readonly index: boolean
  readonly follow: boolean
}

interface PageInput {
  readonly html: string
  readonly site: Site
  readonly url: string
}

export const pageJob = ({ html, site, url }: PageInput): WorkerOutput<WebPage> => {
  const { document } = parseHTML(html)
  const robots = document.querySelector('meta[name="robots" i]')?.getAttribute("content")?.toLowerCase() ?? ""
  const base = URL.parse(document.querySelector("base[href]")?.getAttribute("href") ?? "", url)?.href ?? url
  const links = [...document.querySelectorAll("a[href]")].flatMap((anchor) => {
    const link = URL.parse(anchor.getAttribute("href") ?? "", base)
    if (link === null || /\bnofollow\b/.test(anchor.getAttribute("rel") ?? "")) return []
    link.hash = ""
    return link.href.startsWith(site.below) ? [link.href] : []
  })
  const title = document.title.trim()
  const whole = document.body?.innerHTML ?? ""
  const article = new Readability(document as never, { charThreshold: 100 }).parse()
  const value = {
    title: article?.title || title,
    content: article?.content ?? whole,
    links: allowedLinks(site, links),
    index: !/\b(?:noindex|none)\b/.test(robots),
    follow: !/\b(?:nofollow|none)\b/.test(robots)
  }
  return { value }
}

/** Reads XML without namespaces: the texts of the elements of a name, in order. */
const xmlReader = (xml: string) => {
  const document = new DOMParser().parseFromString(xml, "text/xml")
  return (name: string): ReadonlyArray<string> =>
    [...document.getElementsByTagName(name)].map((element) => element.textContent?.trim() ?? "")
}

/** The pages or sitemaps in a sitemap that may be read. */
export const sitemapJob = ({ site, xml }: { readonly site: Site; readonly xml: string }) => {
  const { host } = new URL(site.below)
  const places = xmlReader(xml)("loc").filter((place) => URL.parse(place)?.host === host)
  return { value: allowedLinks(site, places) }
}

/** A page of the list of a bucket, with one object more than `limit` at most. */
export const bucketJob = ({ limit, xml }: { readonly limit: number; readonly xml: string }) => {
  const texts = xmlReader(xml)
  const [truncated] = texts("IsTruncated")
  const [next] = texts("NextContinuationToken")
  const etags = texts("ETag")
  const objects = texts("Key").map((key, i) => ({ key, etag: etags[i] }))
  return { value: { objects: objects.slice(0, limit + 1), next: truncated === "true" ? next : undefined } }
}
