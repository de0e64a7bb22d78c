import { execFileSync } from "node:child_process"
import { type IngestReport, Library, type SourceItem } from "@sluice/rag"
import { documentFormats } from "@sluice/rag/formats"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Queue, Stream } from "effect"
import { publicAddressPolicy } from "../../apps/demo-server/src/network/PublicFile.ts"
import { sourceKind } from "../../apps/demo-server/src/sources/kinds/SourceKinds.ts"
import { sourceNameOf } from "../../apps/demo-server/src/sources/SourceName.ts"
import { countingEmbedder } from "../rag/Models.ts"
import { testFolder } from "../rag/TestFolder.ts"
import { site } from "./Site.ts"
import { free, open, pathsOf, syncInto } from "./Sources.ts"

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
