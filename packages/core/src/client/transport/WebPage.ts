/** Web pages in place of responses: the base URL is wrong, or a firewall refuses the request. */

const PAGE = /^\s*<(?:!doctype\s+html|html|head|body|\?xml|!--)/i

/** The title of the beginning of a page, or the start of its text. */
const titleOf = (head: string): string => {
  const [, title = head.replace(/<(script|style)\b.*?<\/\1>|<[^<>]*>/gis, " ")] =
    /<title[^<>]*>(.*?)<\/title>/is.exec(head) ?? []
  return title.replace(/\s+/g, " ").trim().slice(0, 80)
}

export const isWebPage = (body: string): boolean => PAGE.test(body)

const withTitle = (page: string): string => {
  const title = titleOf(page.slice(0, 4_096))
  return title === "" ? "a web page" : `a web page (“${title}”)`
}

export const wrongBaseUrl = (page: string): string =>
  `The base URL seems wrong: it answered ${withTitle(page)}. It must be the gateway's address, before /v1 and /api.`

export const refusedByFirewall = (status: number, page: string): string =>
  `A firewall or proxy in front of the gateway refused the request: status ${status} with ${withTitle(page)}.`
