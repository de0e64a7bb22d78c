/** A folder of documents that changes at random, a library of it, and the invariants between the two. */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import * as Corpus from "../../bench/corpus/Corpus.ts"
import type { Random } from "../../bench/corpus/Random.ts"
import { chunk } from "../../packages/rag/src/chunking/Chunker.ts"
import { must } from "./Trial.ts"

const corpus = Corpus.make(7)

/** Every version of each path, by SHA-256. The last version is on disk, unless the file was removed. */
export class LibraryFolder {
  readonly root: string
  readonly docs: string
  library: string
  readonly versions = new Map<string, Set<string>>()
  readonly present = new Map<string, string>()

  private constructor(root: string, name: string) {
    this.root = root
    this.docs = join(root, name)
    this.library = join(root, "library")
  }

  /** Creates a temporary folder, or one that shares the library of another. */
  static async make(beside?: LibraryFolder, name = "docs"): Promise<LibraryFolder> {
    const folder = new LibraryFolder(beside?.root ?? (await mkdtemp(join(tmpdir(), "sluice-trial-"))), name)
    await mkdir(folder.docs, { recursive: true })
    return folder
  }

  remove(): Promise<void> {
    return rm(this.root, { recursive: true, force: true })
  }

  async write(slot: number, version: number): Promise<void> {
    const path = corpus.document(slot).path
    const { text } = corpus.document(slot + 1000 * version)
    const file = join(this.docs, path)
    await mkdir(dirname(file), { recursive: true })
    await writeFile(file, text)
    const sha256 = createHash("sha256").update(text).digest("hex")
    this.present.set(path, sha256)
    this.versions.set(path, (this.versions.get(path) ?? new Set()).add(sha256))
  }

  async delete(slot: number): Promise<void> {
    const { path } = corpus.document(slot)
    await rm(join(this.docs, path), { force: true })
    this.present.delete(path)
  }

  /** Adds, changes and removes some documents. */
  async change(random: Random, slots: number): Promise<void> {
    for (let slot = 0; slot < slots; slot++) {
      const roll = random.next()
      if (roll < 0.5) await this.write(slot, random.between(1, 1_000_000))
      else if (roll < 0.6) await this.delete(slot)
    }
  }

  /** Starts one writer process in a mode of `ingestOnce.ts`. */
  ingest(mode: "plain" | "paid" | "apply" = "plain"): {
    readonly child: ChildProcess
    readonly ended: Promise<{ readonly ok: boolean; readonly errors: string }>
  } {
    const child = spawn(
      process.execPath,
      [
        "--conditions=@sluice/source",
        join(import.meta.dirname, "ingestOnce.ts"),
        this.docs,
        this.library,
        mode
      ],
      { stdio: ["ignore", "pipe", "pipe"] }
    )
    let errors = ""
    child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text))
    const ended = new Promise<{ ok: boolean; errors: string }>((resolve) =>
      child.on("close", (code) => resolve({ ok: code === 0, errors }))
    )
    return { child, ended }
  }
}

/** Checks for partial documents, duplicates and unknown versions. With `complete`, the library must equal the disk. */
export const checkLibrary = (folders: ReadonlyArray<LibraryFolder>, complete: boolean): Promise<void> =>
  Effect.gen(function* () {
    const library = yield* Library.open(folders[0]?.library ?? "")
    const documents = yield* library.documents
    let passages = 0
    const seen = new Set<string>()
    for (const info of documents) {
      must(!seen.has(info.path), () => `${info.path} is there twice`)
      seen.add(info.path)
      const known = folders.some(({ versions }) => versions.get(info.path)?.has(info.sha256))
      must(known, () => `${info.path} has a version that was never written`)
      const { parsed } = yield* library.document(info.id)
      const due = chunk(parsed).length
      must(info.passages === due, () => `${info.path}: ${info.passages} passages, ${due} due`)
      passages += due
    }
    const stats = yield* library.stats
    must(stats.passages === passages, () => `${stats.passages} passages are stored, ${passages} are due`)
    if (complete) {
      const due = new Set(folders.flatMap(({ present }) => [...present.keys()]))
      for (const { path, sha256 } of documents) {
        const current = folders.some(({ present }) => present.get(path) === sha256)
        must(current, () => `${path} is not as it is on disk`)
      }
      must(due.size === documents.length, () => `${documents.length} documents, ${due.size} on disk`)
    }
    if (passages > 0) {
      const { trace } = yield* library.retrieve(corpus.question(0))
      must(
        trace.passages.length === Math.min(20, passages),
        () => `${trace.passages.length} passages recalled`
      )
    }
  }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)
