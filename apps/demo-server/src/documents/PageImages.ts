/** Pages as pictures, kept on disk: drawing one costs much more than reading it again. */
import type { RagError } from "@sluice/rag"
import { Context, Effect, FileSystem, Layer, Path, Semaphore } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** Bytes of pictures kept at most; those that were not asked for longest go first. */
const KEPT_BYTES = 256 * 1024 * 1024

/** Pictures that are drawn at once. */
const AT_ONCE = 2

interface Drawn {
  readonly sha256: string
  readonly page: number
  readonly width: number
}

const NAME = /^[0-9a-f]{64}-\d+-\d+\.png$/

interface Images {
  readonly get: <R>(
    of: Drawn,
    draw: Effect.Effect<Uint8Array, RagError, R>
  ) => Effect.Effect<Uint8Array, RagError, R>
  /** Drops the pictures of a file that was removed. */
  readonly forget: (sha256: string) => Effect.Effect<void>
}

const make = (keptBytes: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { data } = yield* ServerConfig
    const folder = path.join(data, "page-images")
    const turns = yield* Semaphore.make(AT_ONCE)
    /** Sizes by name, the one that was asked for last at the end. */
    const kept = new Map<string, number>()
    let bytes = 0

    const drop = (name: string) =>
      Effect.suspend(() => {
        bytes -= kept.get(name) ?? 0
        kept.delete(name)
        return Effect.ignore(fs.remove(path.join(folder, name), { force: true }))
      })
    const note = (name: string, size: number) =>
      Effect.suspend(() => {
        bytes += size - (kept.get(name) ?? 0)
        kept.delete(name)
        kept.set(name, size)
        const old: Array<string> = []
        let left = bytes
        for (const [each, size] of kept) {
          if (left <= keptBytes) break
          old.push(each)
          left -= size
        }
        return Effect.forEach(old, drop, { discard: true })
      })

    /** What earlier runs have left; the oldest first. */
    const found = Effect.gen(function* () {
      const names = (yield* fs.readDirectory(folder)).filter((name) => NAME.test(name))
      const files = yield* Effect.forEach(names, (name) =>
        Effect.map(fs.stat(path.join(folder, name)), ({ mtime, size }) => ({ name, mtime, size }))
      )
      const age = ({ mtime }: (typeof files)[number]) => (mtime._tag === "Some" ? mtime.value.getTime() : 0)
      for (const { name, size } of files.toSorted((a, b) => age(a) - age(b))) yield* note(name, Number(size))
    })
    yield* Effect.ignore(found)

    const keep = (name: string, png: Uint8Array) =>
      Effect.gen(function* () {
        yield* fs.makeDirectory(folder, { recursive: true })
        // Whole or not at all, for who reads it meanwhile.
        const part = path.join(folder, `.${name}.part`)
        yield* fs.writeFile(part, png)
        yield* fs.rename(part, path.join(folder, name))
        yield* note(name, png.length)
      }).pipe(Effect.catch(({ message }) => Effect.logWarning(`A page image could not be kept: ${message}`)))

    const drawing = new Map<string, Semaphore.Semaphore>()
    const alone = <A, E, R>(name: string, effect: Effect.Effect<A, E, R>) =>
      Effect.suspend(() => {
        const own = drawing.get(name) ?? Semaphore.makeUnsafe(1)
        drawing.set(name, own)
        return Effect.ensuring(
          own.withPermit(effect),
          Effect.sync(() => drawing.delete(name))
        )
      })

    const stored = (name: string) =>
      Effect.option(Effect.tap(fs.readFile(path.join(folder, name)), ({ length }) => note(name, length)))

    const images: Images = {
      get: ({ page, sha256, width }, draw) => {
        const name = `${sha256}-${page}-${width}.png`
        return alone(
          name,
          Effect.gen(function* () {
            const known = kept.has(name) ? yield* stored(name) : undefined
            if (known?._tag === "Some") return known.value
            const png = yield* turns.withPermit(draw)
            yield* keep(name, png)
            return png
          })
        ).pipe(Effect.withSpan("PageImages.get"))
      },
      forget: (sha256) =>
        Effect.forEach(
          [...kept.keys()].filter((name) => name.startsWith(sha256)),
          drop,
          { discard: true }
        )
    }
    return images
  })

/**
 * Pictures of pages by the content of the file, in a folder beside the libraries.
 *
 * **Details.** What is asked for by several at once is drawn once. A folder that cannot be written costs time, no
 * picture. Who may see a picture is not asked here.
 */
export class PageImages extends Context.Service<PageImages, Images>()("@sluice/demo-server/PageImages") {
  /** Keeps so many bytes at most. */
  static readonly layerOf = (keptBytes: number) => Layer.effect(PageImages, make(keptBytes))
  static readonly layer = PageImages.layerOf(KEPT_BYTES)
}
