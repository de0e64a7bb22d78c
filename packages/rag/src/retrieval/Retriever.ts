/** From a question to the passages that most likely answer it, and how they were found. */
import { type Candidate, Embedder, Reranker } from "@sluice/core"
import { Clock, Duration, Effect, Option } from "effect"
import type { StoredPassage } from "../document/Document.ts"
import { choose, type KeptPassage } from "./Choosing.ts"
import { asks, fuse, type Fused } from "./Fusion.ts"
import { uncrowded } from "./Crowds.ts"
import { deadlineFrom } from "./Deadline.ts"
import { makeCopies } from "./Duplicates.ts"
import { checkVector, modelError } from "../embedding/PassageEmbedder.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { RagError } from "../document/RagError.ts"
import { priorsOf } from "./RerankOrder.ts"
import { planOf, type RetrieveOptions, type RetrievePlan } from "./RetrieveOptions.ts"
import { rankedText, searchWords, titleOf } from "../document/SearchText.ts"
import { sectionOf } from "./Section.ts"
import type { StageTime, Trace, TracedPassage } from "./Trace.ts"

/** Where copies leave fewer than are recalled, so many are looked for once more, to find what stands behind them. */
const BEHIND_COPIES = 1_000

/** The passages kept, best first, and the trace of all that were recalled. */
export interface Retrieval {
  readonly kept: ReadonlyArray<KeptPassage>
  readonly trace: Trace
}

/** A retrieval, and what else was seen on the way. */
export interface Inspection extends Retrieval {
  readonly plan: RetrievePlan
  /** The question's vector; undefined where it was not embedded or has no direction. */
  readonly vector: Float32Array | undefined
  /** All that was found, best first: the reranker looked at the first `trace.candidates`. */
  readonly fused: ReadonlyArray<Fused>
  /** What became of each candidate, in the fused order; the trace tells of the `recalled` best. */
  readonly candidates: ReadonlyArray<TracedPassage>
  /** `recall`, and the copies among them, or fewer where there are no more. */
  readonly recalled: number
  /** Passages that were not looked at because candidates are alike, the first of which. */
  readonly copies: ReadonlyMap<string, string>
}

/** Finds passages for questions. `onStage` hears of each stage as it ends. */
export interface Retriever {
  /** The same as `retrieve`, with all that was seen on the way. */
  readonly inspect: (
    question: string,
    options?: RetrieveOptions,
    onStage?: (stage: StageTime) => Effect.Effect<void>
  ) => Effect.Effect<Inspection, RagError>
  readonly retrieve: (
    question: string,
    options?: RetrieveOptions,
    onStage?: (stage: StageTime) => Effect.Effect<void>
  ) => Effect.Effect<Retrieval, RagError>
}

/** Runs a stage and tells how long it took. */
const timedStage = <A, E, R>(
  stage: StageTime["stage"],
  effect: Effect.Effect<A, E, R>
): Effect.Effect<readonly [StageTime, A], E, R> =>
  Effect.map(Effect.timed(effect), ([duration, result]) => [
    { stage, milliseconds: Duration.toMillis(duration) },
    result
  ])

/**
 * Embeds the question, recalls passages by vector and by keywords, fuses the two lists, reranks the head of them in one
 * call, keeps the best.
 *
 * **Details.** Fewer passages than asked for come from a small collection. A question without any word recalls nothing.
 */
export const makeRetriever = Effect.fn("Retriever.make")(function* (
  collection: Effect.Effect<Collection, RagError>,
  dimension: number,
  defaults: RetrieveOptions = {}
) {
  const embedder = yield* Embedder
  const reranker = yield* Reranker

  const embedQuestion = Effect.fn("Retriever.embed")(function* (question: string) {
    const { vectors } = yield* embedder
      .embed([question], "query")
      .pipe(Effect.mapError((error) => modelError("retrieve", error)))
    const checked = checkVector(vectors[0], dimension, embedder.model.id, "retrieve")
    return checked._tag === "Failed" ? yield* checked.error : checked.vector
  })

  /** The score of each passage, in the order given. */
  const rerank = Effect.fn("Retriever.rerank")(function* (
    question: string,
    fused: ReadonlyArray<Fused>,
    priors: ReadonlyArray<number>
  ) {
    const candidates = fused.map(({ hit }) => candidateOf(hit.passage))
    const { results } = yield* reranker
      .rerank(question, candidates, { priors })
      .pipe(Effect.mapError((error) => modelError("retrieve", error)))
    const scores = new Map(results.map(({ index, score }) => [index, score]))
    const right =
      results.length === fused.length &&
      fused.every((_, i) => Number.isFinite(scores.get(i))) &&
      results.every(({ score }, i) => i === 0 || score <= results[i - 1]!.score)
    if (!right) {
      return yield* new RagError({
        stage: "retrieve",
        reason: "Model",
        message: `The rerank model ${reranker.model.id} did not give each of ${fused.length} passages one finite score, best first. Check that the configured model is the one that answers.`
      })
    }
    return { scores: fused.map((_, i) => scores.get(i)!), order: results.map(({ index }) => index) }
  })

  const inspect: Retriever["inspect"] = Effect.fn("Retriever.inspect")(function* (
    question,
    options = {},
    onStage = () => Effect.void
  ) {
    if (typeof question !== "string" || question.trim() === "") {
      return yield* new RagError({
        stage: "retrieve",
        reason: "Empty",
        message: "The question is empty. Ask in a sentence or in a few words."
      })
    }
    const started = yield* Clock.currentTimeNanos
    const asked = yield* planOf(options, defaults, reranker.model)
    const { begun, byThen, inTime } = deadlineFrom(started, asked.deadline)
    const ways = asks(asked.fusion)
    const from = yield* collection
    const stages: Array<StageTime> = []
    const ended = (stage: StageTime): Effect.Effect<void> => {
      stages.push(stage)
      return onStage(stage)
    }

    let vector: Float32Array | undefined
    if (ways.vector) {
      // Begun whatever is left: a model in the process answers at once.
      const [time, embedded] = yield* timedStage("embed", begun(embedQuestion(question)))
      const late = Option.isNone(embedded)
        ? `The embedding model ${embedder.model.id} had not answered ${byThen}`
        : undefined
      if (late !== undefined && !ways.keywords) {
        return yield* new RagError({
          stage: "retrieve",
          reason: "Model",
          message: `${late}, and ${asked.fusion._tag === "Dense" ? "Fusion.dense" : "this fusion"} looks at nothing else. Give it a later deadline, or a fusion that asks for keywords too.`
        })
      }
      vector = Option.getOrUndefined(embedded)
      yield* ended(late === undefined ? time : { ...time, failed: `${late}: keywords alone were asked.` })
    }
    const copied = makeCopies(question)
    const search = (limit: number) =>
      vector === undefined && !ways.keywords
        ? Effect.succeed([])
        : from
            .search({
              vector,
              words: ways.keywords ? searchWords(question) : undefined,
              limit,
              filter: asked.filter,
              vectors: asked.diversity > 0
            })
            .pipe(Effect.map((hits) => fuse(asked.fusion, hits)))
    const recallOnce = Effect.map(search(asked.eachWay), (all) => ({ all, ...uncrowded(copied, all, asked) }))
    const recallEnough = Effect.flatMap(recallOnce, (once) =>
      once.copies.length > 0 && once.fused.length < asked.recall && once.all.length >= asked.eachWay
        ? Effect.map(search(BEHIND_COPIES), (all) => ({ all, ...uncrowded(copied, all, asked) }))
        : Effect.succeed(once)
    )
    const [recallTime, { all, copies, fused, texts }] = yield* timedStage("recall", recallEnough)
    yield* ended(recallTime)
    const priors = priorsOf(fused.map(({ hit }) => hit))

    const [rerankTime, answered] = yield* timedStage(
      "rerank",
      fused.length === 0
        ? Effect.succeedSome({ scores: [], order: [] })
        : inTime(rerank(question, fused, priors))
    )
    const reranked = Option.getOrUndefined(answered)
    const tooLate = `The reranker had not answered ${byThen}: the passages stand in their fused order.`
    yield* ended(reranked === undefined ? { ...rerankTime, failed: tooLate } : rerankTime)

    const chosen = choose({
      all,
      asked,
      copies,
      fused,
      kind: reranker.model.kind,
      priors,
      question,
      reranked,
      copied,
      texts
    })
    const trace: Trace = {
      question,
      collection: from.name,
      embeddingModel: embedder.model.id,
      rerankModel: reranker.model.id,
      fusion: asked.fusion,
      candidates: fused.length,
      passages: chosen.candidates.filter(({ rerankRank }) => rerankRank <= chosen.recalled),
      stages
    }
    return {
      kept: asked.expand === "section" ? yield* expanded(from, chosen.kept) : chosen.kept,
      trace,
      plan: asked,
      vector,
      fused: all,
      candidates: chosen.candidates,
      recalled: chosen.recalled,
      copies: new Map(copies.map(({ passage, text }) => [passage.id, fused[text]!.hit.passage.id]))
    }
  })

  const retrieve: Retriever["retrieve"] = (question, options, onStage) =>
    inspect(question, options, onStage).pipe(
      Effect.map(({ kept, trace }): Retrieval => ({ kept, trace })),
      Effect.withSpan("Retriever.retrieve")
    )

  return { inspect, retrieve } satisfies Retriever
})

/** Passages as a reranker sees them, each the same object again: it may know what it found in it. */
const candidates = new WeakMap<StoredPassage, Candidate>()

const candidateOf = (passage: StoredPassage): Candidate => {
  const known = candidates.get(passage)
  if (known !== undefined) return known
  const title = titleOf(passage.document.title, passage.headings)
  const candidate = Object.freeze({ title, text: rankedText(passage) })
  candidates.set(passage, candidate)
  return candidate
}

/** Each passage with its section; the passages of a document are read once. */
const expanded = Effect.fn("Retriever.expand")(function* (
  from: Collection,
  kept: ReadonlyArray<KeptPassage>
) {
  const documents = [...new Set(kept.map(({ document }) => document.id))]
  const read = yield* Effect.forEach(documents, from.passages, { concurrency: "unbounded" })
  const passages = new Map(documents.map((id, i) => [id, read[i] ?? []]))
  return kept.map((passage): KeptPassage => ({
    ...passage,
    section: sectionOf(passage, passages.get(passage.document.id) ?? [])
  }))
})
