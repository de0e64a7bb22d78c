/** Calls an embedding model for texts: limits concurrent calls, sends each text once, and caches what was paid for. */
import { Array, Deferred, Effect, Semaphore } from "effect"
import type { RagError } from "../document/RagError.ts"
import type { VectorCache } from "../store/PassageIndex.ts"

/** A checked vector (undefined if the text has no words), or the failure. */
export type EmbeddedText =
  | { readonly _tag: "Vector"; readonly vector: Float32Array | undefined }
  | { readonly _tag: "Failed"; readonly error: RagError }

/** A text to embed as a passage; `hash` is its SHA-256. */
export interface PassageText {
  readonly hash: string
  readonly text: string
}

/** A text and the key of its vector in the cache. */
export interface KeyedText extends PassageText {
  readonly key: string
}

/**
 * Texts of one call: few enough that paid vectors are cached soon and that other work gets the thread. It is three requests
 * of the gateway's client, which sends 96 texts at a time. Four calls are a batch of passages.
 */
export const TEXTS_PER_CALL = 288

/** While calls are pending, finished vectors wait until there are this many: each write to the cache is a file. */
const TEXTS_PER_WRITE = 1_000

/** Returns a failure for the texts of a call that must not be sent. It gets the number of texts. */
type RefuseCall = (texts: number) => EmbeddedText | undefined

interface Dependencies {
  /** Calls the model. Each text without a vector is `Failed`. */
  readonly request: (texts: ReadonlyArray<KeyedText>) => Effect.Effect<ReadonlyArray<EmbeddedText>>
  /** Vectors in the cache, by the hash of their text. */
  readonly lookUp: (
    texts: ReadonlyArray<KeyedText>
  ) => Effect.Effect<ReadonlyMap<string, Float32Array>, RagError>
  readonly cache: VectorCache | undefined
  readonly concurrency: number
  readonly dimension: number
}

type EmbeddedTexts = ReadonlyMap<string, EmbeddedText>

/**
 * Makes the function that embeds different texts: it returns the cached vectors and the new ones, by hash.
 *
 * **Details.** Concurrent uses share the limit of calls, and a text that another use is embedding is not sent again. A
 * call that has been answered is cached even if its caller is interrupted.
 */
export const embeddingCalls = Effect.fnUntraced(function* (dependencies: Dependencies) {
  const { concurrency, lookUp, request } = dependencies
  const calls = yield* Semaphore.make(concurrency)
  const claims = yield* Semaphore.make(1)
  /** Texts that are being embedded, until their vectors are in the cache. */
  const pending = new Map<string, Deferred.Deferred<EmbeddedTexts>>()
  const writes = cacheWrites(dependencies, (hash) => pending.delete(hash))

  /** Splits texts into those of other uses, those in the cache, and those that this use has to embed. */
  const claim = Effect.fnUntraced(function* (texts: ReadonlyArray<KeyedText>) {
    const others = new Map<string, Deferred.Deferred<EmbeddedTexts>>()
    for (const { hash } of texts) {
      const other = pending.get(hash)
      if (other !== undefined) others.set(hash, other)
    }
    const rest = texts.filter(({ hash }) => !others.has(hash))
    const cached = yield* lookUp(rest)
    const own = rest.filter(({ hash }) => !cached.has(hash))
    const result = Deferred.makeUnsafe<EmbeddedTexts>()
    for (const { hash } of own) pending.set(hash, result)
    return { others, cached, own, result }
  }, claims.withPermit)

  /** Ends a claim. If it was interrupted, so are those that wait for it. */
  const release = ({ own, result }: Effect.Success<ReturnType<typeof claim>>) =>
    Effect.suspend(() => {
      for (const { hash } of own) if (!writes.has(hash)) pending.delete(hash)
      return Deferred.interrupt(result)
    })

  const call = (texts: ReadonlyArray<KeyedText>, refuse: RefuseCall) =>
    writes.duringCall(
      texts,
      calls.withPermit(
        Effect.suspend(() => {
          const failure = refuse(texts.length)
          return failure === undefined ? request(texts) : Effect.succeed(texts.map(() => failure))
        })
      )
    )

  return (texts: ReadonlyArray<KeyedText>, refuse: RefuseCall) =>
    Effect.acquireUseRelease(
      claim(texts),
      Effect.fnUntraced(function* ({ cached, others, own, result }) {
        const embedded = new Map<string, EmbeddedText>()
        yield* Effect.forEach(
          Array.chunksOf(own, TEXTS_PER_CALL),
          (group) =>
            // A model in the process blocks the thread. The yield lets other work run between two calls.
            Effect.yieldNow.pipe(
              Effect.andThen(call(group, refuse)),
              Effect.map((results) => results.forEach((one, i) => embedded.set(group[i]!.hash, one)))
            ),
          { concurrency: "unbounded", discard: true }
        )
        yield* Deferred.succeed(result, embedded)
        for (const [hash, other] of others) {
          const one = (yield* Deferred.await(other)).get(hash)
          if (one !== undefined) embedded.set(hash, one)
        }
        return { cached, embedded }
      }),
      release
    )
})

/** Collects paid vectors and writes them to the cache; `onWritten` is called with each hash. */
const cacheWrites = (
  { cache, dimension }: Pick<Dependencies, "cache" | "dimension">,
  onWritten: (hash: string) => void
) => {
  /** Hashes of vectors that are not in the cache yet, including those being written. */
  const unwritten = new Set<string>()
  let vectors = new Map<string, { readonly key: string; readonly vector: Float32Array }>()
  let callsInProgress = 0

  const add = (texts: ReadonlyArray<KeyedText>, results: ReadonlyArray<EmbeddedText>): void => {
    if (cache === undefined) return
    for (const [i, { hash, key }] of texts.entries()) {
      const result = results[i]
      if (result?._tag !== "Vector") continue
      vectors.set(hash, { key, vector: result.vector ?? new Float32Array(dimension) })
      unwritten.add(hash)
    }
  }

  const write = Effect.suspend(() => {
    if (cache === undefined || vectors.size === 0) return Effect.void
    if (callsInProgress > 0 && vectors.size < TEXTS_PER_WRITE) return Effect.void
    const all = vectors
    vectors = new Map()
    return Effect.ensuring(
      cache.put(new Map([...all.values()].map(({ key, vector }) => [key, vector]))),
      Effect.sync(() => {
        for (const hash of all.keys()) {
          unwritten.delete(hash)
          onWritten(hash)
        }
      })
    )
  })

  return {
    has: (hash: string): boolean => unwritten.has(hash),
    /** Runs a call, and keeps its vectors even if it is interrupted after the response. */
    duringCall: (texts: ReadonlyArray<KeyedText>, call: Effect.Effect<ReadonlyArray<EmbeddedText>>) =>
      Effect.uninterruptibleMask((restore) => {
        callsInProgress++
        return restore(call).pipe(
          Effect.tap((results) => Effect.sync(() => add(texts, results))),
          Effect.onExit(() => {
            callsInProgress--
            return write
          })
        )
      })
  }
}
