/** A cache of page images on disk. Drawing a page costs much more than reading its image. */
import type { RagError } from "@sluice/rag"
import { Clock, Context, Effect, FileSystem, Layer, Option, Path, RcMap, Schedule, Semaphore } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

/** Bytes cached at most. The least recently used images are removed first. */
const CACHE_BYTES = 256 * 1024 * 1024

/** An image is removed this long after it was drawn: another server may have removed its document. */
const KEEP_MILLIS = 24 * 60 * 60 * 1000
const EXPIRY_INTERVAL = "1 hour"

/** Pages drawn at the same time. */
const CONCURRENCY = 2

interface PageKey {
  readonly sha256: string
  readonly page: number
  readonly width: number
}

const NAME = /^[0-9a-f]{64}-\d+-\d+\.png$/

const make = (maxBytes: number) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const { data } = yield* ServerConfig
    const folder = path.join(data, "page-images")
    const drawSlots = yield* Semaphore.make(CONCURRENCY)
    /** By name, least recently used first. `drawn` is in milliseconds since 1970. */
    const images = new Map<string, { readonly size: number; readonly drawn: number }>()
    let bytes = 0

    const evict = (name: string) =>
      Effect.suspend(() => {
        bytes -= images.get(name)?.size ?? 0
        images.delete(name)
        return Effect.ignore(fs.remove(path.join(folder, name), { force: true }))
      })
    const touch = Effect.fnUntraced(function* (name: string, size: number, drawn: number) {
      bytes += size - (images.get(name)?.size ?? 0)
      images.delete(name)
      images.set(name, { size, drawn })
      for (const oldest of images.keys()) if (bytes > maxBytes) yield* evict(oldest)
    })
    const removeExpired = Effect.gen(function* () {
      const before = (yield* Clock.currentTimeMillis) - KEEP_MILLIS
      for (const [name, { drawn }] of images) if (drawn < before) yield* evict(name)
    })

    /** Finds the images of earlier runs, oldest first. */
    const loadExisting = Effect.gen(function* () {
      const names = (yield* fs.readDirectory(folder)).filter((name) => NAME.test(name))
      const files = yield* Effect.forEach(names, (name) =>
        Effect.map(fs.stat(path.join(folder, name)), ({ mtime, size }) => ({ name, mtime, size }))
      )
      const age = ({ mtime }: (typeof files)[number]) => (mtime._tag === "Some" ? mtime.value.getTime() : 0)
      for (const file of files.toSorted((a, b) => age(a) - age(b)))
        yield* touch(file.name, Number(file.size), age(file))
    })
    yield* Effect.ignore(loadExisting)
    yield* Effect.forkScoped(Effect.schedule(removeExpired, Schedule.spaced(EXPIRY_INTERVAL)))

    const store = Effect.fnUntraced(
      function* (name: string, png: Uint8Array) {
        yield* fs.makeDirectory(folder, { recursive: true })
        // Written atomically: others may read it at the same time.
        const part = path.join(folder, `.${name}.part`)
        yield* fs.writeFile(part, png)
        yield* fs.rename(part, path.join(folder, name))
        yield* touch(name, png.length, yield* Clock.currentTimeMillis)
      },
      Effect.catch(({ message }) => Effect.logWarning(`A page image could not be cached: ${message}`))
    )

    const read = (name: string) =>
      Effect.option(
        Effect.tap(fs.readFile(path.join(folder, name)), ({ length }) =>
          touch(name, length, images.get(name)?.drawn ?? 0)
        )
      )

    const locks = yield* RcMap.make({ lookup: (_name: string) => Semaphore.make(1) })

    return {
      /** Concurrent requests for the same image draw it once. */
      get: Effect.fn("PageImages.get")(function* <R>(
        { page, sha256, width }: PageKey,
        draw: Effect.Effect<Uint8Array, RagError, R>
      ) {
        const name = `${sha256}-${page}-${width}.png`
        const cached = Effect.gen(function* () {
          const known = images.has(name) ? yield* read(name) : Option.none()
          if (Option.isSome(known)) return known.value
          return yield* Effect.tap(drawSlots.withPermit(draw), (png) => store(name, png))
        })
        return yield* (yield* RcMap.get(locks, name)).withPermit(cached)
      }, Effect.scoped),
      /** Removes the images of a file. */
      remove: (sha256: string) =>
        Effect.forEach(
          [...images.keys()].filter((name) => name.startsWith(sha256)),
          evict,
          { discard: true }
        )
    }
  })

/**
 * Page images by the file's hash, page number and width, in the folder `page-images`.
 *
 * **Details.** If the folder cannot be written, pages are drawn each time. Callers check permissions.
 */
export class PageImages extends Context.Service<PageImages, Effect.Success<ReturnType<typeof make>>>()(
  "@sluice/demo-server/PageImages"
) {
  static readonly layerOf = (maxBytes: number) => Layer.effect(PageImages, make(maxBytes))
  static readonly layer = PageImages.layerOf(CACHE_BYTES)
}
