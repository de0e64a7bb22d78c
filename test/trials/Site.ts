/** A web site on loopback. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

/** A site whose responses the test sets, by path. */
export const site = Effect.map(
  Effect.acquireRelease(
    Effect.promise(async () => {
      const pages = new Map<
        string,
        { status?: number; type?: string; body?: string | Uint8Array; location?: string }
      >()
      const requests: Array<string> = []
      const server = createServer((request, response) => {
        requests.push(request.url ?? "")
        const {
          body = "",
          location,
          status = 200,
          type = "text/html"
        } = pages.get(request.url ?? "") ?? { status: 404 }
        response.writeHead(status, { "content-type": type, ...(location && { location }) }).end(body)
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      return { server, pages, requests, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
    }),
    ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  ),
  ({ pages, requests, url }) => ({
    pages,
    requests,
    url,
    page: (path: string, text: string, links: ReadonlyArray<string> = []) =>
      pages.set(path, {
        body: `<html><head><title>${path}</title></head><body><nav>Menu Imprint</nav><article><h1>Page</h1><p>${`${text} `.repeat(20)}</p></article>${links.map((link) => `<a href="${link}">x</a>`).join("")}</body></html>`
      })
  })
)
