/** An S3 server in memory with what LanceDB uses: objects, ranges, lists, conditional writes, multipart uploads. */
import { createHash, randomUUID } from "node:crypto"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

interface Stored {
  readonly bytes: Buffer
  readonly etag: string
  readonly modified: Date
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

const listXml = (objects: ReadonlyMap<string, Stored>, query: URLSearchParams): string => {
  const [prefix, delimiter] = [query.get("prefix") ?? "", query.get("delimiter") ?? ""]
  const after = query.get("start-after") ?? ""
  const folders = new Set<string>()
  let contents = ""
  for (const [key, { bytes, etag, modified }] of [...objects].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    if (!key.startsWith(prefix) || key <= after) continue
    const end = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length)
    if (end >= 0) folders.add(key.slice(0, end + 1))
    else
      contents += `<Contents><Key>${escaped(key)}</Key><LastModified>${modified.toISOString()}</LastModified><ETag>${etag}</ETag><Size>${bytes.length}</Size></Contents>`
  }
  const common = [...folders].map(
    (folder) => `<CommonPrefixes><Prefix>${escaped(folder)}</Prefix></CommonPrefixes>`
  )
  return `<?xml version="1.0"?><ListBucketResult><IsTruncated>false</IsTruncated>${contents}${common.join("")}</ListBucketResult>`
}

/** What a server does with `If-None-Match`: stores differ. */
type ConditionalWrites = "kept" | "ignored" | "refused" | "denied"

/** A server on a free local port with any bucket. `counts` counts requests, lists among them, bytes, and writes that require a new name. */
export const s3ServerWith = (conditionalWrites: ConditionalWrites) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.promise(async () => {
        const objects = new Map<string, Stored>()
        const parts = new Map<string, Map<number, Buffer>>()
        const counts = { refused: 0, conditional: 0, requests: 0, lists: 0, read: 0, written: 0 }
        const put = (key: string, bytes: Buffer): string => {
          const etag = `"${createHash("md5").update(bytes).digest("hex")}"`
          objects.set(key, { bytes, etag, modified: new Date() })
          return etag
        }
        const answer = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
          const url = new URL(request.url ?? "/", "http://s3")
          const key = decodeURIComponent(url.pathname).split("/").slice(2).join("/")
          const query = url.searchParams
          const body = await bodyOf(request)
          counts.requests++
          counts.written += body.length
          const xml = (text: string) =>
            response.writeHead(200, { "content-type": "application/xml" }).end(text)
          const fail = (status: number, code: string) =>
            response
              .writeHead(status, { "content-type": "application/xml" })
              .end(`<Error><Code>${code}</Code></Error>`)
          const upload = query.get("uploadId")
          switch (request.method) {
            case "PUT": {
              if (upload !== null) {
                parts.get(upload)?.set(Number(query.get("partNumber")), body)
                return response.writeHead(200, { etag: `"${randomUUID()}"` }).end()
              }
              const conditional = request.headers["if-none-match"] === "*"
              if (conditional) counts.conditional++
              if (conditional && conditionalWrites === "refused") return fail(501, "NotImplemented")
              if (conditional && conditionalWrites === "denied") return fail(403, "AccessDenied")
              if (conditional && conditionalWrites === "kept" && objects.has(key)) {
                counts.refused++
                return fail(412, "PreconditionFailed")
              }
              const source = request.headers["x-amz-copy-source"]?.toString()
              if (source === undefined) return response.writeHead(200, { etag: put(key, body) }).end()
              const from = objects.get(
                decodeURIComponent(source).split("/").filter(Boolean).slice(1).join("/")
              )
              if (from === undefined) return fail(404, "NoSuchKey")
              return xml(`<CopyObjectResult><ETag>${put(key, from.bytes)}</ETag></CopyObjectResult>`)
            }
            case "POST": {
              if (query.has("uploads")) {
                const id = randomUUID()
                parts.set(id, new Map())
                return xml(
                  `<InitiateMultipartUploadResult><UploadId>${id}</UploadId></InitiateMultipartUploadResult>`
                )
              }
              if (upload !== null) {
                const all = [...(parts.get(upload) ?? [])].toSorted(([a], [b]) => a - b)
                const etag = put(key, Buffer.concat(all.map(([, bytes]) => bytes)))
                return xml(
                  `<CompleteMultipartUploadResult><ETag>${etag}</ETag></CompleteMultipartUploadResult>`
                )
              }
              const gone = [...body.toString().matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, name = ""]) => name)
              for (const name of gone) objects.delete(name)
              const deleted = gone.map((name) => `<Deleted><Key>${name}</Key></Deleted>`)
              return xml(`<DeleteResult>${deleted.join("")}</DeleteResult>`)
            }
            case "DELETE":
              objects.delete(key)
              return response.writeHead(204).end()
            default: {
              if (key === "") {
                const list = listXml(objects, query)
                counts.lists++
                counts.read += Buffer.byteLength(list)
                return xml(list)
              }
              const found = objects.get(key)
              if (found === undefined) return fail(404, "NoSuchKey")
              const { bytes, etag, modified } = found
              const [, first, last] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? []
              const from =
                first === undefined
                  ? 0
                  : first === ""
                    ? Math.max(0, bytes.length - Number(last))
                    : Number(first)
              const to =
                first === undefined || first === "" || last === ""
                  ? bytes.length
                  : Math.min(bytes.length, Number(last) + 1)
              const part = bytes.subarray(from, to)
              response.writeHead(first === undefined ? 200 : 206, {
                etag,
                "last-modified": modified.toUTCString(),
                "content-length": part.length,
                ...(first === undefined ? {} : { "content-range": `bytes ${from}-${to - 1}/${bytes.length}` })
              })
              if (request.method === "HEAD") return response.end()
              counts.read += part.length
              return response.end(part)
            }
          }
        }
        const server = createServer((request, response) => {
          answer(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
        })
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
        return { server, counts, port: (server.address() as AddressInfo).port }
      }),
      ({ server }) =>
        Effect.promise(() => {
          server.closeAllConnections()
          return new Promise((resolve) => server.close(resolve))
        })
    ),
    ({ counts, port }) => ({
      counts,
      storageOptions: {
        aws_access_key_id: "test",
        aws_secret_access_key: "test",
        aws_region: "us-east-1",
        aws_endpoint: `http://127.0.0.1:${port}`,
        allow_http: "true"
      }
    })
  )

export const s3Server = s3ServerWith("kept")
