/** Finds the passages that most likely answer a question. */
import { Embedder, QuestionRewriter, Reranker } from "@sluice/core"
import { Clock, Context, Duration, Effect, Struct } from "effect"
import { requireQuestion } from "../document/Arguments.ts"
import type { RagError } from "../document/RagError.ts"
import type { StoredPassage } from "../document/Document.ts"
import type { Collection } from "../store/PassageIndex.ts"
import { resolveOptions, stageOptions } from "./RetrievePlan.ts"
import { previousWording } from "./stages/Embed.ts"
import { RetrievalStages } from "./stages/index.ts"
import type { Defined, RetrieveOptions, RetrievePlan } from "./stages/RetrieveOptions.ts"
import type {
  Deadline,
  KeptPassage,
  RankedPassage,
  RetrievalState,
  RetrievalStage
} from "./stages/RetrievalStage.ts"
import type { StageTime, Trace, TracedPassage } from "./stages/Trace.ts"

/** The passages kept, best first, the trace of all that were recalled, and the options with all defaults. */
export interface Retrieval {
  readonly options: RetrievePlan
  readonly kept: ReadonlyArray<KeptPassage>
  readonly trace: Trace
}

/** A retrieval with the state after its last stage. */
export interface Inspection extends Retrieval {
  readonly state: RetrievalState
}

type Retrieve<A> = (
  question: string,
  options?: RetrieveOptions,
  onStage?: (stage: StageTime) => Effect.Effect<void>
) => Effect.Effect<A, RagError>

/** Finds passages for questions. `onStage` is called as each stage ends. */
export interface Retriever {
  readonly stages: ReadonlyArray<RetrievalStage>
  /** Whether its models compare words: they are free. */
  readonly isLexical: boolean
  readonly inspect: Retrieve<Inspection>
  readonly retrieve: Retrieve<Retrieval>
}

/**
 * Runs the registered stages over each question.
 *
 * **Details.** A small collection has fewer passages than requested. A question without words recalls nothing.
 */
export const makeRetriever = Effect.fn("Retriever.make")(function* (
  collection: Effect.Effect<Collection, RagError>,
  defaults: RetrieveOptions = {}
) {
  const stages = yield* RetrievalStages
  const models = Context.pick(
    Embedder,
    QuestionRewriter,
    Reranker
  )(yield* Effect.context<Embedder | Reranker>())
  const { model: embedderModel } = yield* Embedder
  const { model: rerankerModel } = yield* Reranker
  const declared = stageOptions(stages)

  const inspect: Retriever["inspect"] = Effect.fn("Retriever.inspect")(function* (
    question,
    options = {},
    onStage = () => Effect.void
  ) {
    yield* requireQuestion(question)
    const started = yield* Clock.currentTimeNanos
    const plan = yield* resolveOptions(options, defaults, declared, rerankerModel)
    let state: RetrievalState = {
      question,
      options: plan,
      collection: yield* collection,
      deadline: deadlineFrom(started, plan.deadline),
      vector: undefined,
      wordings: previousWording(question, plan),
      hits: [],
      afterPrevious: [],
      fused: [],
      duplicates: { alike: () => false, same: () => false, firstOf: new Map(), dropped: [] },
      candidates: [],
      recalled: 0,
      kept: []
    }
    const times: Array<StageTime> = []
    for (const { name, run } of stages) {
      const [duration, result] = yield* Effect.timed(Effect.provideContext(run(state), models))
      if (result === undefined) continue
      const { failed, texts, tokens, ...change } = result
      state = Object.assign({}, state, change)
      const milliseconds = Duration.toMillis(duration)
      const time: StageTime = omitUndefined({ stage: name, milliseconds, tokens, texts, failed })
      times.push(time)
      yield* onStage(time)
    }
    const detailed = yield* documentDetails(state)
    const trace: Trace = {
      question,
      collection: state.collection.name,
      embeddingModel: embedderModel.id,
      rerankModel: rerankerModel.id,
      fusion: plan.fusion,
      candidates: state.candidates.length,
      passages: tracedPassages(state).map((one) => ({ ...one, passage: detailed(one.passage) })),
      stages: times
    }
    return { options: plan, kept: state.kept.map(detailed), trace, state }
  })

  const retrieve: Retriever["retrieve"] = (question, options, onStage) =>
    inspect(question, options, onStage).pipe(
      Effect.map(Struct.pick(["options", "kept", "trace"])),
      Effect.withSpan("Retriever.retrieve")
    )

  const isLexical = embedderModel.kind === "lexical" && rerankerModel.kind === "lexical"
  return { stages, isLexical, inspect, retrieve } satisfies Retriever
})

/**
 * Adds URL and metadata of their documents to passages. They are read now, because they change without the passages.
 * Passages that were not recalled are as they are.
 */
const documentDetails = Effect.fnUntraced(function* ({ candidates, collection, recalled }: RetrievalState) {
  const passages = candidates.slice(0, recalled).map(({ hit }) => hit.passage)
  const ids = [...new Set(passages.map(({ document }) => document.id))]
  // What a damaged row lacks is not worth the question.
  const infos = ids.length === 0 ? [] : yield* Effect.orElseSucceed(collection.infos(ids), () => [])
  const details = new Map(
    infos.map(({ id, metadata, url }) => [
      id,
      { ...(url !== undefined && { url }), ...(metadata !== undefined && { metadata }) }
    ])
  )
  return <A extends StoredPassage>(passage: A): A => ({
    ...passage,
    document: { ...passage.document, ...details.get(passage.document.id) }
  })
})

/** `started` in nanoseconds, as the clock counts them. */
const deadlineFrom = (started: bigint, deadline: Duration.Duration | undefined): Deadline => {
  if (deadline === undefined) return { limit: Effect.asSome, text: "in time" }
  const left = Effect.map(Clock.currentTimeNanos, (now) =>
    Duration.max(Duration.subtract(deadline, Duration.nanos(now - started)), Duration.zero)
  )
  return {
    limit: (effect, { start }) =>
      Effect.flatMap(left, (time) =>
        Duration.isZero(time) && !start ? Effect.succeedNone : Effect.timeoutOption(effect, time)
      ),
    text: Duration.isZero(deadline) ? "at once" : `${Duration.format(deadline)} after the question`
  }
}

const tracedPassages = ({ candidates, kept, recalled }: RetrievalState): ReadonlyArray<TracedPassage> => {
  const keptIds = new Set(kept.map(({ id }) => id))
  return candidates
    .slice(0, recalled)
    .map((one) => tracedPassage(one, keptIds.has(one.hit.passage.id)))
    .toSorted((a, b) => a.recallRank - b.recallRank)
}

const tracedPassage = (
  { hit: { vector: _vector, ...hit }, relevance: _relevance, ...ranked }: RankedPassage,
  kept: boolean
): TracedPassage => omitUndefined({ ...hit, ...ranked, kept })

const omitUndefined = <A extends object>(value: A) =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as Defined<A>
