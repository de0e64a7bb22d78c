/** Passages to vectors: what is embedded, what is kept, and what is not believed. */
import { createHash } from "node:crypto"
import { Embedder, type GatewayError } from "@sluice/core"
import { Effect } from "effect"
import type { Passage } from "./Document.ts"
import type { VectorCache } from "./PassageIndex.ts"
import { RagError, type Stage } from "./RagError.ts"

/** Texts of one call: small enough that vectors which were paid for are kept soon, and that the process stays awake. */
const TEXTS_PER_CALL = 256

/** Calls at a time, for models that are far away. */
const CALLS_AT_ONCE = 4

/** Title of the document and path of headings, as readers and rerankers see it. */
export const titleOf = (title: string, headings: ReadonlyArray<string>): string =>
  (headings[0] === title ? headings : [title, ...headings]).join(" › ")

/** The text that stands for a passage: where it stands, then what it says. Structure is worth as much as a better model. */
export const embeddedText = (title: string, passage: Passage): string =>
  `${titleOf(title, passage.headings)}\n${passage.text}`

/** SHA-256, hexadecimal. */
export const sha256 = (data: string | Uint8Array): string => createHash("sha256").update(data).digest("hex")

/** A vector that was checked, or why there is none. A text without any word has neither: `vector` is undefined. */
export type Embedding =
  | { readonly _tag: "Vector"; readonly vector: Float32Array | undefined }
  | { readonly _tag: "Failed"; readonly error: RagError }

/** Embeds passages; each text fails or succeeds by itself. */
export interface PassageEmbedder {
  readonly embed: (
    texts: ReadonlyArray<{ readonly hash: string; readonly text: string }>
  ) => Effect.Effect<ReadonlyArray<Embedding>, RagError>
}

/** What the model promised, checked: the vector itself, undefined when it has no direction, or what is wrong with it. */
export const checkVector = (
  vector: Float32Array | undefined,
  dimension: number,
  model: string,
  stage: Stage
): Embedding => {
  if (vector === undefined) return distrusted(stage, model, "gave no vector for a text")
  if (vector.length !== dimension)
    return distrusted(stage, model, `gave a vector of ${vector.length} numbers where ${dimension} were due`)
  let squares = 0
  for (let i = 0; i < vector.length; i++) squares += vector[i]! * vector[i]!
  if (!Number.isFinite(squares))
    return distrusted(stage, model, "gave a vector with a number that is not finite")
  return { _tag: "Vector", vector: squares === 0 ? undefined : vector }
}

/** With `cache`, vectors are looked up before a call and kept after it; models that cost nothing need none. */
export const makePassageEmbedder = Effect.fn("PassageEmbedder.make")(function* (
  dimension: number,
  cache: VectorCache | undefined
) {
  const { embed, model } = yield* Embedder

  const call = Effect.fn("PassageEmbedder.call")(function* (
    texts: ReadonlyArray<{ hash: string; text: string }>
  ) {
    const answer = yield* embed(
      texts.map(({ text }) => text),
      "passage"
    ).pipe(
      Effect.map(({ vectors }) => {
        const right = vectors.length === texts.length
        return texts.map((_, i): Embedding =>
          right
            ? checkVector(vectors[i], dimension, model.id, "ingest")
            : distrusted("ingest", model.id, `gave ${vectors.length} vectors for ${texts.length} texts`)
        )
      }),
      Effect.catchTag("GatewayError", (error) =>
        Effect.succeed(salvage(texts.length, error, dimension, model.id))
      )
    )
    if (cache !== undefined) {
      const paid = new Map<string, Float32Array>()
      answer.forEach((embedding, i) => {
        if (embedding._tag === "Vector")
          paid.set(texts[i]!.hash, embedding.vector ?? new Float32Array(dimension))
      })
      yield* cache.put(paid)
    }
    return answer
  })

  const embedGroup = Effect.fn("PassageEmbedder.group")(function* (
    texts: ReadonlyArray<{ readonly hash: string; readonly text: string }>
  ) {
    if (cache === undefined) return yield* call(texts)
    const known = yield* cache.get([...new Set(texts.map(({ hash }) => hash))])
    const missing = [
      ...new Map(texts.filter(({ hash }) => !known.has(hash)).map((text) => [text.hash, text])).values()
    ]
    const fresh = missing.length === 0 ? [] : yield* call(missing)
    const byHash = new Map(missing.map(({ hash }, i) => [hash, fresh[i]!]))
    return texts.map(
      ({ hash }) => byHash.get(hash) ?? checkVector(known.get(hash), dimension, model.id, "ingest")
    )
  })

  const embedAll: PassageEmbedder["embed"] = Effect.fn("PassageEmbedder.embed")(function* (texts) {
    const groups = Array.from({ length: Math.ceil(texts.length / TEXTS_PER_CALL) }, (_, i) =>
      texts.slice(i * TEXTS_PER_CALL, (i + 1) * TEXTS_PER_CALL)
    )
    const done = yield* Effect.forEach(
      groups,
      // A model in the process holds the thread while it works: between two groups others have their turn.
      (group) => Effect.andThen(Effect.yieldNow, embedGroup(group)),
      { concurrency: model.free ? 1 : CALLS_AT_ONCE }
    )
    return done.flat()
  })

  return { embed: embedAll } satisfies PassageEmbedder
})

const distrusted = (stage: Stage, model: string, what: string): Embedding => ({
  _tag: "Failed",
  error: new RagError({
    stage,
    reason: "Model",
    message: `The embedding model ${model} ${what}. Nothing of it was stored. Check that the configured model is the one that answers.`
  })
})

/** What is left of a call that failed: with `PartialFailure` the vectors that were paid for. */
const salvage = (
  count: number,
  error: GatewayError,
  dimension: number,
  model: string
): ReadonlyArray<Embedding> => {
  const kept = error.reason._tag === "PartialFailure" ? error.reason.kept : undefined
  return Array.from({ length: count }, (_, i): Embedding =>
    kept?.has(i) === true
      ? checkVector(kept.get(i), dimension, model, "ingest")
      : { _tag: "Failed", error: modelError("ingest", error) }
  )
}

/** A model's failure as ours, with what to do next. */
export const modelError = (stage: Stage, cause: GatewayError): RagError =>
  new RagError({
    stage,
    reason: "Model",
    message: `${cause.message}. ${cause.isRetryable ? "Try again later; what succeeded is kept." : "Trying again will not help before this is mended."}`,
    cause
  })
