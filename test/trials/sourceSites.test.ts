import { gzipSync } from "node:zlib"
import { Library } from "@sluice/rag"
import { expect, it } from "@effect/vitest"
import { Effect, Stream, Tracer } from "effect"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"
import { modelsLayer } from "../rag/Models.ts"
import { s3Server } from "../rag/S3Server.ts"
import { column, writePdf } from "../rag/PdfWriter.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { site } from "./Site.ts"
import { free, open, pathsOf, syncInto } from "./Sources.ts"

it.effect("a web site: the pages below its address, as robots.txt allows, without the menu", () =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const { page, pages, requests, url } = yield* site
    pages.set("/robots.txt", { type: "text/plain", body: "User-agent: *\nDisallow: /docs/private/" })
    page("/docs/", "The start of the documents.", [
      "b",
      "/docs/private/c",
      "/other",
      "https://example.com/docs/",
      "gone",
      "broken",
      "fees.pdf?v=2"
    ])
    const fees = writePdf([{ marks: column(60, 740, ["The fee of the north quay is forty crowns."]) }])
    pages.set("/docs/fees.pdf?v=2", { type: "application/pdf", body: fees })
    page("/docs/b", "The lock opens at six.", ["/docs/#top"])
    page("/docs/private/c", "Not for robots.")
    pages.set("/docs/broken", { status: 500 })
    const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
    const source = { name: "site", address: `${url}/docs/` }
    const first = yield* syncInto(library, source)
    expect(first).toMatchObject({ added: 3, failed: [{ path: expect.stringContaining("/docs/broken") }] })
    expect(requests).not.toContain("/docs/private/c")
    expect(requests).not.toContain("/other")
    const documents = yield* library.documents
    expect(documents.map((document) => document.url)).toEqual([
      `${url}/docs/`,
      `${url}/docs/b`,
      `${url}/docs/fees.pdf?v=2`
    ])
    const [fee] = yield* library.passages(documents[2]!.id)
    expect(fee).toMatchObject({ page: 1, text: expect.stringContaining("forty crowns") })
    const [passage] = yield* library.passages(documents[1]!.id)
    expect(passage!.text).toContain("The lock opens at six.")
    expect(passage!.text).not.toContain("Imprint")
    // A page that fails stays; one that is gone is removed.
    pages.set("/docs/b", { status: 503 })
    expect(yield* syncInto(library, source)).toMatchObject({ removed: 0 })
    pages.delete("/docs/b")
    expect(yield* syncInto(library, source)).toMatchObject({ removed: 1 })
    pages.set("/robots.txt", { status: 500 })
    expect((yield* Effect.flip(syncInto(library, source))).message).toContain("robots.txt")
    pages.set("/robots.txt", { type: "text/plain", body: "User-agent: *\nDisallow: /" })
    expect((yield* Effect.flip(syncInto(library, source))).message).toContain("forbids")
    expect(yield* pathsOf(library)).toHaveLength(2)
  }).pipe(Effect.scoped)
)

it.effect("a sitemap is all of a site; an endless one ends, and removes nothing", () =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const { page, pages, requests, url } = yield* site
    const xml = (path: string, root: string, inner: string, places: ReadonlyArray<string>) =>
      pages.set(path, {
        type: "application/xml",
        body: `<?xml version="1.0"?><${root}>${places.map((place) => `<${inner}><loc>${url}${place}</loc></${inner}>`).join("")}</${root}>`
      })
    xml("/sitemap.xml", "sitemapindex", "sitemap", ["/one.xml"])
    xml("/one.xml", "urlset", "url", ["/a", "/b"])
    page("/a", "The first page.", ["/c"])
    page("/b", "The second page.")
    page("/c", "Not in the sitemap.")
    const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
    const source = { name: "map", address: `${url}/sitemap.xml` }
    expect(yield* syncInto(library, source)).toMatchObject({ added: 2 })
    for (let n = 0; n < 150; n++) xml(`/endless${n}.xml`, "sitemapindex", "sitemap", [`/endless${n + 1}.xml`])
    xml("/sitemap.xml", "sitemapindex", "sitemap", ["/endless0.xml"])
    const before = requests.length
    expect((yield* Effect.flip(syncInto(library, source))).message).toContain("more than 100 sitemaps")
    expect(requests.length - before).toBeLessThan(110)
    expect(yield* pathsOf(library)).toHaveLength(2)
  }).pipe(Effect.scoped)
)

it.effect(
  "a site that has moved is read where it is now, and a page that redirects to another one once",
  () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const { pages, url } = yield* site
      const now = yield* site
      pages.set("/docs/", { status: 301, location: `${now.url}/docs/en/` })
      now.page("/docs/en/", "The start.", ["b", "../old", "/other"])
      now.page("/docs/en/b", "The lock opens at six.")
      now.pages.set("/docs/old", { status: 302, location: "/docs/en/b" })
      const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
      expect(yield* syncInto(library, { name: "s", address: `${url}/docs/` })).toMatchObject({ added: 2 })
      expect((yield* library.documents).map((document) => document.url)).toEqual([
        `${now.url}/docs/en/`,
        `${now.url}/docs/en/b`
      ])
      now.pages.set("/robots.txt", { type: "text/plain", body: "User-agent: *\nDisallow: /docs/en/" })
      const fault = yield* Effect.flip(syncInto(library, { name: "s", address: `${url}/docs/` }))
      expect(fault.message).toContain("forbids")
    }).pipe(Effect.scoped)
)

it.effect("pages have the text of their charset, and links start from their base", () =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const { pages, url } = yield* site
    const latin = (head: string) =>
      Buffer.from(
        `<html><head>${head}</head><body><p>Schöne Grüße. <a href="b">b</a></p></body></html>`,
        "latin1"
      )
    pages.set("/", { body: latin('<meta charset="iso-8859-1"><base href="/docs/">') })
    pages.set("/docs/b", { type: "text/html; charset=ISO-8859-1", body: latin("") })
    const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
    yield* syncInto(library, { name: "s", address: url })
    const documents = yield* library.documents
    expect(documents.map((document) => document.url)).toEqual([`${url}/`, `${url}/docs/b`])
    for (const { id } of documents) expect((yield* library.passages(id))[0]!.text).toContain("Schöne Grüße.")
  }).pipe(Effect.scoped)
)

it.effect("a sitemap may be compressed, and an address that is no page is not an empty site", () =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const { page, pages, url } = yield* site
    pages.set("/sitemap.xml.gz", {
      type: "application/gzip",
      body: gzipSync(`<?xml version="1.0"?><urlset><url><loc>${url}/a</loc></url></urlset>`)
    })
    page("/a", "The first page.")
    pages.set("/feed", { type: "application/json", body: "{}" })
    const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
    expect(yield* syncInto(library, { name: "s", address: `${url}/sitemap.xml.gz` })).toMatchObject({
      added: 1
    })
    const fault = yield* Effect.flip(syncInto(library, { name: "s", address: `${url}/feed` }))
    expect(fault.message).toContain("no page, PDF or sitemap, but application/json")
    expect(yield* pathsOf(library)).toHaveLength(1)
  }).pipe(Effect.scoped)
)

it.effect(
  "addresses and sitemaps that are made to take much time are read in a time that their length allows",
  () =>
    Effect.gen(function* () {
      const { library: at } = yield* testFolder
      const { pages, url } = yield* site
      pages.set("/sitemap.xml", { type: "text/html", body: `${"<!---->".repeat(26)}<p>No sitemap.</p>` })
      const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
      const started = process.cpuUsage()
      sourceKind("a@".repeat(50_000))
      yield* Effect.exit(syncInto(library, { name: "map", address: `${url}/sitemap.xml` }))
      expect(process.cpuUsage(started).user).toBeLessThan(2e6)
    }).pipe(Effect.scoped)
)

it.effect("no redirect leads to an address that may not be reached", () =>
  Effect.gen(function* () {
    const { page, pages, url } = yield* site
    const other = yield* site
    other.page("/secret", "The inside of the network.")
    page("/docs/", "The start.", ["inside"])
    pages.set("/docs/inside", { status: 302, location: `${other.url}/secret` })
    const port = Number(new URL(url).port)
    const policy = { ...publicAddressPolicy, mayReach: (_: string, to: number) => to === port }
    const { items } = yield* open({ name: "s", address: `${url}/docs/` }, { ...free, policy })
    const [, inside] = yield* Stream.runCollect(items)
    const fault = yield* Effect.flip(
      (inside as unknown as { readonly read: Effect.Effect<never, Error> }).read
    )
    expect(fault.message).toContain("not publicly reachable")
    const refused = yield* Effect.flip(
      open({ name: "s", address: `${url}/docs/` }, { ...free, policy: publicAddressPolicy })
    )
    expect(refused.message).toContain("not publicly reachable")
  }).pipe(Effect.scoped)
)

it.effect("a bucket: objects below a prefix, by their ETags", () =>
  Effect.gen(function* () {
    const { library: at } = yield* testFolder
    const bucket = yield* s3Server
    const root = `${bucket.storageOptions.aws_endpoint}/bucket`
    const change = (method: string, key: string, body?: string) =>
      Effect.promise(() => fetch(`${root}/${key}`, { method, ...(body !== undefined && { body }) }))
    const put = (key: string, text: string) => change("PUT", key, text)
    yield* put("docs/a.md", "# A\n\nThe first object.")
    yield* put("docs/b c.txt", "The second object.")
    yield* put("other/d.txt", "Elsewhere.")
    const library = yield* Library.open(at).pipe(Effect.provide(modelsLayer))
    const source = { name: "s3", address: `${root}/docs/`, credential: "key:secret" }
    const sync = syncInto(library, source, "s3")
    expect(yield* sync).toMatchObject({ added: 2, failed: [] })
    expect(yield* pathsOf(library)).toEqual(["s3/a.md", "s3/b c.txt"])
    const before = bucket.counts.requests
    expect(yield* sync).toMatchObject({ unchanged: 2 })
    expect(bucket.counts.requests - before).toBe(1)
    yield* put("docs/a.md", "# A\n\nThe first object, changed.")
    yield* change("DELETE", "docs/b c.txt")
    expect(yield* sync).toMatchObject({ replaced: 1, removed: 1 })
  }).pipe(Effect.scoped)
)

it.effect("pages, sitemaps, rules of robots and lists of buckets are parsed in the pool of threads", () =>
  Effect.gen(function* () {
    const { page, pages, url } = yield* site
    page("/docs/", "The start.", ["b"])
    pages.set("/sitemap.xml", { body: `<urlset><url><loc>${url}/docs/</loc></url></urlset>` })
    pages.set("/bucket/?list-type=2&prefix=", { body: "<ListBucketResult/>" })
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({ span: (options) => spans[spans.push(new Tracer.NativeSpan(options)) - 1]! })
    for (const [path, kind] of [["/docs/"], ["/sitemap.xml"], ["/bucket/", "s3"]] as const) {
      const content = open({ name: "s", address: url + path }, free, kind)
      yield* Effect.flatMap(content, ({ items }) => Stream.runDrain(items)).pipe(Effect.withTracer(tracer))
    }
    const jobs = spans.flatMap(({ attributes }) => attributes.get("job") ?? [])
    expect(jobs).toEqual(["robotsJob", "pageJob", "robotsJob", "sitemapJob", "pageJob", "bucketJob"])
  }).pipe(Effect.scoped)
)

it.effect("a page of a bucket's list with too many objects is refused", () =>
  Effect.gen(function* () {
    const { pages, url } = yield* site
    pages.set("/bucket/?list-type=2&prefix=", {
      body: `<ListBucketResult>${"<Contents><Key>a.md</Key></Contents>".repeat(10_001)}</ListBucketResult>`
    })
    const { items } = yield* open({ name: "s", address: `${url}/bucket/` }, free, "s3")
    expect((yield* Effect.flip(Stream.runDrain(items))).message).toContain("more than 10000 objects")
  }).pipe(Effect.scoped)
)
