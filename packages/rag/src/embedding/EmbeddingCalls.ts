/** The calls of an embedding model: so many at a time, each text once, and what was answered is kept. */
import { Deferred, Effect, Semaphore } from "effect"
import type { VectorCache } from "../store/PassageIndex.ts"
import type { RagError } from "../document/RagError.ts"

/** A vector that was checked, or why there is none. A text without any word has neither: `vector` is undefined. */
export type EmbeddedText =
  | { readonly _tag: "Vector"; readonly vector: Float32Array | undefined }
  | { readonly _tag: "Failed"; readonly error: RagError }

/** A text to be embedded as a passage; `hash` is its SHA-256. */
export interface PassageText {
  readonly hash: string
  readonly text: string
}

/** A text, and what its vector is kept under; empty where none is kept. */
export interface KeyedText extends PassageText {
  readonly key: string
}

/**
 * Texts of one call: small enough that vectors which were paid for are kept soon, and that the process stays awake. Three
 * requests of the gateway's client, which sends 96 at a time; four calls are a batch of passages.
 */
export const TEXTS_PER_CALL = 288

/** Answers that come while other calls are under way wait for those, so many texts at most: each write is a file. */
const TEXTS_PER_WRITE = 1_000

/** Why a call for so many texts is not made; undefined where it is. */
type Refused = (texts: number) => EmbeddedText | undefined

/** What the calls need. */
interface Calls {
  /** Asks the model. A text of which nothing comes is `Failed`. */
  readonly ask: (texts: ReadonlyArray<KeyedText>) => Effect.Effect<ReadonlyArray<EmbeddedText>>
  /** Vectors that are known already, by the hash of their text. */
  readonly lookUp: (
    texts: ReadonlyArray<KeyedText>
  ) => Effect.Effect<ReadonlyMap<string, Float32Array>, RagError>
  readonly cache: VectorCache | undefined
  readonly atOnce: number
  readonly dimension: number
}

/**
 * Gives what is known of texts, different ones, and asks for the others.
 *
 * **Details.** It may be asked again meanwhile: at most `atOnce` calls are under way for all together, and a text that is
 * under way is not asked for twice. `refused` has the last word before each call: where it gives something, that is what
 * becomes of the call's texts.
 */
export const embeddingCalls = Effect.fnUntraced(function* ({ ask, atOnce, cache, dimension, lookUp }: Calls) {
  const turns = yield* Semaphore.make(atOnce)
  const looking = yield* Semaphore.make(1)
  /** Who asked for a text and will know, from the first that asks until its vector is in the cache. */
  const awaited = new Map<string, Deferred.Deferred<ReadonlyMap<string, EmbeddedText>>>()
  /** Vectors that were paid for and are not in the cache, by the hash of their text; those on their way there are not in `paid`. */
  const unwritten = new Set<string>()
  let paid = new Map<string, Paid>()
  let underWay = 0

  /** What is neither known nor asked for by anybody else is the caller's `own` to ask for. */
  const claim = Effect.fnUntraced(function* (texts: ReadonlyArray<KeyedText>) {
    const others = new Map<string, Deferred.Deferred<ReadonlyMap<string, EmbeddedText>>>()
    for (const { hash } of texts) {
      const there = awaited.get(hash)
      if (there !== undefined) others.set(hash, there)
    }
    const rest = texts.filter(({ hash }) => !others.has(hash))
    const known = yield* lookUp(rest)
    const own = rest.filter(({ hash }) => !known.has(hash))
    const answer = Deferred.makeUnsafe<ReadonlyMap<string, EmbeddedText>>()
    for (const { hash } of own) awaited.set(hash, answer)
    return { others, known, own, answer }
  }, looking.withPermit)

  const keep = Effect.suspend(() => {
    if (cache === undefined || paid.size === 0) return Effect.void
    if (underWay > 0 && paid.size < TEXTS_PER_WRITE) return Effect.void
    const all = paid
    paid = new Map()
    const written = Effect.sync(() => {
      for (const hash of all.keys()) {
        unwritten.delete(hash)
        awaited.delete(hash)
      }
    })
    return Effect.ensuring(
      cache.put(new Map([...all.values()].map(({ key, vector }) => [key, vector]))),
      written
    )
  })

  const note = (texts: ReadonlyArray<KeyedText>, answer: ReadonlyArray<EmbeddedText>): void => {
    if (cache === undefined) return
    for (const [i, { hash, key }] of texts.entries()) {
      const embedding = answer[i]
      if (embedding?._tag !== "Vector") continue
      paid.set(hash, { key, vector: embedding.vector ?? new Float32Array(dimension) })
      unwritten.add(hash)
    }
  }

  /** What was answered is kept, whoever interrupts: it was paid for. */
  const call = (texts: ReadonlyArray<KeyedText>, refused: Refused) =>
    Effect.uninterruptibleMask((restore) => {
      underWay++
      const answered = Effect.suspend(() => {
        const refusal = refused(texts.length)
        return refusal === undefined ? ask(texts) : Effect.succeed(texts.map(() => refusal))
      })
      return restore(turns.withPermit(answered)).pipe(
        Effect.tap((answer) => Effect.sync(() => note(texts, answer))),
        Effect.onExit(() => {
          underWay--
          return keep
        })
      )
    })

  const ended = ({ answer, own }: Effect.Success<ReturnType<typeof claim>>) =>
    Effect.suspend(() => {
      for (const { hash } of own) if (!unwritten.has(hash)) awaited.delete(hash)
      // Unless it was given: who asked was interrupted.
      return Deferred.interrupt(answer)
    })

  return (texts: ReadonlyArray<KeyedText>, refused: Refused) =>
    Effect.acquireUseRelease(
      claim(texts),
      Effect.fnUntraced(function* ({ answer, known, others, own }) {
        const groups = Array.from({ length: Math.ceil(own.length / TEXTS_PER_CALL) }, (_, i) =>
          own.slice(i * TEXTS_PER_CALL, (i + 1) * TEXTS_PER_CALL)
        )
        const fresh = new Map<string, EmbeddedText>()
        yield* Effect.forEach(
          groups,
          (group) =>
            // A model in the process holds the thread while it works: between two groups others have their turn.
            Effect.yieldNow.pipe(
              Effect.andThen(call(group, refused)),
              Effect.map((given) => given.forEach((embedding, i) => fresh.set(group[i]!.hash, embedding)))
            ),
          { concurrency: "unbounded", discard: true }
        )
        yield* Deferred.succeed(answer, fresh)
        for (const [hash, theirs] of others) {
          const embedding = (yield* Deferred.await(theirs)).get(hash)
          if (embedding !== undefined) fresh.set(hash, embedding)
        }
        return { known, fresh }
      }),
      ended
    )
})

interface Paid {
  readonly key: string
  readonly vector: Float32Array
}
