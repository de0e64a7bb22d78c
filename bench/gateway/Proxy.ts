/** A process that passes requests on by undici and does nothing else: no gateway of Node can be faster. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Pool } from "undici"

const [, , upstream = ""] = process.argv
const pool = new Pool(upstream, { connections: 256 })

const server = createServer((request, response) => {
  const { headers, method = "GET", url: path = "/" } = request
  pool
    .stream(
      {
        path,
        method: method as "POST",
        body: request,
        headers: {
          "content-type": headers["content-type"] ?? "",
          "content-length": headers["content-length"] ?? ""
        }
      },
      ({ headers, statusCode }) =>
        response.writeHead(statusCode, { "content-type": String(headers["content-type"]) })
    )
    .catch(() => response.destroy())
})
server.listen(0, "127.0.0.1", () => console.log(`port ${(server.address() as AddressInfo).port}`))
