import { execFileSync } from "node:child_process"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { gzipSync } from "node:zlib"
import { type IngestReport, Library, type LibraryService, type SourceItem } from "@sluice/rag"
import { documentFormats } from "@sluice/rag/formats"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Stream, Tracer } from "effect"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import type { SourceAccess, SourceAddress } from "../../apps/demo-server/src/sources/kinds/SourceKind.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"
import { sourceNameOf } from "../../apps/demo-server/src/sources/SourceName.ts"
import { countingEmbedder, modelsLayer } from "../rag/Models.ts"
import { s3Server } from "../rag/S3Server.ts"
import { column, writePdf } from "../rag/PdfWriter.ts"
import { testFolder } from "../rag/TestFolder.ts"

const anywhere = { ...publicAddressPolicy, mayReach: () => true }
const free: SourceAccess = { policy: anywhere, folders: undefined, formats: documentFormats }

const open = (source: SourceAddress, access: SourceAccess = free, kind?: string) =>
  sourceKind(source.address, kind)!.open(source, access)

/** Syncs once, and returns the report. */
const syncInto = (library: LibraryService, source: SourceAddress, kind?: string) =>
  Effect.scoped(Effect.flatMap(open(source, free, kind), ({ items }) => library.sync(source.name, items)))

const pathsOf = (library: LibraryService) =>
  Effect.map(library.documents, (documents) => documents.map(({ path }) => path))

it("an address has a kind and a name", () => {
  const of = (address: string): ReadonlyArray<string | undefined> => [
    sourceKind(address)?.id,
    sourceNameOf(address, sourceKind(address)?.id)
  ]
  expect(of("./docs/handbook/")).toEqual(["folder", "handbook"])
  expect(of("https://github.com/owner/name")).toEqual(["git", "name"])
  expect(of("https://example.com/a/guide.git#main")).toEqual(["git", "guide"])
  expect(of("https://docs.example.com/sitemap.xml")).toEqual(["web", "docs.example.com"])
  expect(of("s3://bucket/docs/?region=eu-west-1")).toEqual(["s3", "docs"])
})

it.effect("a folder is read again without reading or embedding what is the same", () =>
  Effect.gen(function* () {
    const { count, layer } = yield* countingEmbedder()
    const { docs, library: folder, remove, write } = yield* testFolder
    for (let n = 0; n < 300; n++) yield* write(`docs/${n % 10}/${n}.txt`, `Text number ${n}.`)
    yield* write("docs/.git/config.txt", "hidden")
    yield* write("docs/program.exe", "not a document")
    const library = yield* Library.open(folder).pipe(Effect.provide(layer))
    const source = { name: "handbook", address: docs }
    expect(yield* syncInto(library, source)).toMatchObject({ added: 300, failed: [] })
    const before = yield* count
    yield* write("docs/3/3.txt", "Another text.")
    yield* remove("docs/4/4.txt")
    const { items } = yield* open(source)
    let read = 0
    const counted = Stream.map(items, (item): SourceItem<unknown> =>
      "bytes" in item && Effect.isEffect(item.bytes)
        ? { ...item, bytes: Effect.tap(item.bytes, () => Effect.sync(() => read++)) }
        : item
    )
    expect(yield* library.sync("handbook", counted)).toMatchObject({
      unchanged: 298,
      replaced: 1,
      removed: 1
    })
    expect([read, (yield* count) - before]).toEqual([1, 1])
  }).pipe(Effect.scoped)
)

it.live("a change in a watched folder reads and embeds that file alone, and is answerable", () =>
  Effect.gen(function* () {
    const { count, layer } = yield* countingEmbedder()
    const { docs, library: folder, remove, write } = yield* testFolder
    for (let n = 0; n < 50; n++) yield* write(`docs/${n}.txt`, `Text number ${n}.`)
    const library = yield* Library.open(folder).pipe(Effect.provide(layer))
    const { changes, items, itemsAt } = yield* open({ name: "w", address: docs })
    const reports = yield* Queue.unbounded<IngestReport>()
    const watching = yield* changes!.pipe(
      Stream.mapEffect(itemsAt!),
      Stream.mapEffect((changed) => library.sync("w", Stream.fromIterable(changed), { partial: true })),
      Stream.runForEach((report) => Queue.offer(reports, report)),
      Effect.forkScoped
    )
    yield* library.sync("w", items)
    const before = yield* count
    // The watcher is ready some time after it began: the file is written until it is seen.
    const saving = yield* Effect.forkScoped(
      Effect.forever(
        Effect.andThen(write("docs/7.txt", "The weir opens at dawn."), Effect.sleep("200 millis"))
      )
    )
    expect(yield* Queue.take(reports)).toMatchObject({ replaced: 1 })
    yield* Fiber.interrupt(saving)
    expect((yield* count) - before).toBe(1)
    expect((yield* library.passages("w/7.txt"))[0]!.text).toBe("The weir opens at dawn.")
    yield* remove("docs/8.txt")
    let removed = 0
    while (removed === 0) removed += (yield* Queue.take(reports)).removed
    expect(yield* pathsOf(library)).toHaveLength(49)
    yield* Fiber.interrupt(watching)
  }).pipe(Effect.scoped)
)

it.effect("a server reads only folders that are allowed, also through links", () =>
  Effect.gen(function* () {
    const { docs, folder, write } = yield* testFolder
    yield* write("docs/a.txt", "a")
    yield* write("secret/b.txt", "b")
    yield* Effect.promise(() =>
      import("node:fs/promises").then((fs) => fs.symlink(`${folder}/secret`, `${docs}/link`))
    )
    const access = { ...free, folders: [docs] }
    const fault = (address: string) =>
      Effect.map(Effect.flip(open({ name: "f", address }, access)), ({ message }) => message)
    for (const address of [
      `${folder}/secret`,
      `${docs}/link`,
      `${docs}/../secret`,
      `${folder}/absent`,
      "docs"
    ])
      expect(yield* fault(address)).toContain("may not be read")
    const { items } = yield* open({ name: "f", address: docs }, access)
    expect(yield* Stream.runCollect(items)).toMatchObject([{ path: "f/a.txt" }])
  }).pipe(Effect.scoped)
)

it.effect("a Git repository: the files of its last commit, and only changed ones are read", () =>
  Effect.gen(function* () {
    const { count, layer } = yield* countingEmbedder()
    const { folder, library: at, remove, write } = yield* testFolder
    const git = (...args: ReadonlyArray<string>) =>
      Effect.sync(() =>
        execFileSync("git", ["-C", `${folder}/repo`, "-c", "user.name=t", "-c", "user.email=t@t", ...args])
      )
    yield* write("repo/a.md", "# A\n\nThe first file.")
    yield* write("repo/sub/b.txt", "The second file.")
    yield* write("repo/.github/c.md", "hidden")
    yield* git("init", "-q", "-b", "main")
    yield* git("add", "-A")
    yield* git("commit", "-qm", "one")
    const library = yield* Library.open(at).pipe(Effect.provide(layer))
    const source = { name: "repo", address: `file://${folder}/repo/.git` }
    expect(yield* syncInto(library, source)).toMatchObject({ added: 2, failed: [] })
    const before = yield* count
    yield* write("repo/a.md", "# A\n\nThe first file, changed.")
    yield* remove("repo/sub/b.txt")
    yield* write("repo/d.txt", "The third file.")
    yield* git("add", "-A")
    yield* git("commit", "-qm", "two")
    expect(yield* syncInto(library, source)).toMatchObject({ added: 1, replaced: 1, removed: 1 })
    expect((yield* count) - before).toBe(2)
    expect(yield* syncInto(library, source)).toMatchObject({ unchanged: 2, replaced: 0 })
    // A server takes no path, no option and no private host.
    const served = { policy: publicAddressPolicy, folders: [], formats: documentFormats }
    for (const address of [
      source.address,
      "--upload-pack=x.git",
      "http://127.0.0.1/x.git",
      "http://[::1]/x.git"
    ])
      expect((yield* Effect.flip(open({ name: "r", address }, served))).message).toMatch(
        /begins with|dash|publicly/
      )
  }).pipe(Effect.scoped)
)

it.effect("git connects to the address that was checked, and follows no redirect", () =>
  Effect.gen(function* () {
    const { pages, requests, url } = yield* site
    const other = yield* site
    const port = new URL(url).port
    const refs = "/x.git/info/refs?service=git-upload-pack"
    pages.set(refs, { status: 302, location: `${other.url}${refs}` })
    const policy = {
      resolve: () => Promise.resolve([{ address: "127.0.0.1", family: 4 }]),
      mayReach: (_: string, to: number) => String(to) === port
    }
    const address = `http://repository.invalid:${port}/x.git`
    const fault = yield* Effect.flip(
      open({ name: "g", address, credential: "user:password" }, { ...free, policy })
    )
    expect(fault.message).toContain("git failed")
    expect(fault.message).not.toContain("password")
    expect(requests).toEqual([refs])
    expect(other.requests).toEqual([])
  }).pipe(Effect.scoped)
)

it.effect("git does not ask for a name and a password, and says why it failed", () =>
  Effect.gen(function* () {
    const { pages, url } = yield* site
    pages.set("/x.git/info/refs?service=git-upload-pack", { status: 401 })
    const messageOf = (address: string) =>
      Effect.map(Effect.flip(open({ name: "g", address }, free)), ({ message }) => message)
    expect(yield* messageOf(`${url}/x.git`)).toMatch(/Authentication failed.*needs a valid credential$/)
    expect(yield* messageOf("file:///nowhere/x.git")).toMatch(/^git failed: fatal: .*nowhere/)
  }).pipe(Effect.scoped)
)

/** A site whose responses the test sets, by path. */
const site = Effect.map(
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
