/** Pages and lists of the web: their text by Readability, their links, and the texts of XML. */
import { Readability } from "@mozilla/readability"
import type { WorkerOutput } from "@sluice/core/workers"
import { DOMParser, parseHTML } from "linkedom"

export interface WebPage {
  readonly title: string
  /** HTML without navigation, advertisements and scripts. */
  readonly content: string
  /** Absolute, without fragments, as they stand in the page. */
  readonly links: ReadonlyArray<string>
  /** What `<meta name="robots">` says. */
  readonly index: boolean
  readonly follow: boolean
}

const readPage = (html: string, url: string): WebPage => {
  const { document } = parseHTML(html)
  const robots = document.querySelector('meta[name="robots" i]')?.getAttribute("content")?.toLowerCase() ?? ""
  const base = URL.parse(document.querySelector("base[href]")?.getAttribute("href") ?? "", url)?.href ?? url
  const links = [...document.querySelectorAll("a[href]")].flatMap((anchor) => {
    const link = URL.parse(anchor.getAttribute("href") ?? "", base)
    if (
      link === null ||
      !/^https?:$/.test(link.protocol) ||
      /\bnofollow\b/.test(anchor.getAttribute("rel") ?? "")
    )
      return []
    link.hash = ""
    return [link.href]
  })
  const title = document.title.trim()
  const whole = document.body?.innerHTML ?? ""
  const article = new Readability(document as never, { charThreshold: 100 }).parse()
  return {
    title: article?.title || title,
    content: article?.content ?? whole,
    links: [...new Set(links)],
    index: !/\b(?:noindex|none)\b/.test(robots),
    follow: !/\b(?:nofollow|none)\b/.test(robots)
  }
}

/** XML without namespaces: `texts` gives the text of each element of a name, in order. */
export const parseXml = (xml: string) => {
  const document = new DOMParser().parseFromString(xml, "text/xml")
  return {
    root: document.documentElement?.tagName ?? "",
    texts: (name: string): ReadonlyArray<string> =>
      [...document.getElementsByTagName(name)].map((element) => element.textContent?.trim() ?? "")
  }
}

export interface PageInput {
  readonly html: string
  readonly url: string
}

export interface Sitemap {
  readonly root: string
  readonly places: ReadonlyArray<string>
}

/** Jobs of the pool of threads: pages and sitemaps are as large and as nested as their sites make them. */
export const pageJob = ({ html, url }: PageInput): WorkerOutput<WebPage> => ({ value: readPage(html, url) })

export const sitemapJob = (xml: string): WorkerOutput<Sitemap> => {
  const { root, texts } = parseXml(xml)
  return { value: { root, places: texts("loc") } }
}
