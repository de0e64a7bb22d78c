/** Optional stages before the search: texts of a chat model that are searched besides the question. */
import { QuestionRewriter } from "@sluice/core"
import { Effect, Option, Schema } from "effect"
import { modelError } from "../../embedding/PassageEmbedder.ts"
import { embedTexts } from "./Embed.ts"
import { retrieversOf } from "./Fusion.ts"
import { stageOption } from "./RetrieveOptions.ts"
import type { RetrievalStage, RetrievalState, SearchedText } from "./RetrievalStage.ts"

/** The most other wordings of a question. Each is a search of its own. */
const MAX_QUERIES = 4

/** Generates texts and embeds them. Without them, the question alone is searched, and the trace says why. */
const generate = Effect.fnUntraced(function* (
  kind: "passage" | "questions",
  count: number,
  state: RetrievalState,
  use: (texts: ReadonlyArray<SearchedText>) => Partial<RetrievalState>
) {
  const rewriter = Option.getOrUndefined(yield* Effect.serviceOption(QuestionRewriter))
  if (rewriter?.generate === undefined)
    return { failed: "No chat model is configured: only the question was searched." }
  const purpose = kind === "passage" ? "passage" : "query"
  const generated = Effect.gen(function* () {
    const { texts, tokens } = yield* Effect.mapError(
      rewriter.generate!(kind, state.question, count),
      modelError("retrieve")
    )
    const searched = retrieversOf(state.options.fusion).vector
      ? yield* embedTexts(texts, purpose, state.collection)
      : texts.map((text) => ({ text, vector: undefined }))
    return { ...use(searched), texts, tokens }
  })
  const result = yield* Effect.result(state.deadline.limit(generated, { start: false }))
  if (result._tag === "Failure")
    return { failed: `${result.failure.message} Only the question was searched.` }
  return Option.getOrElse(result.success, () => ({
    failed: `${rewriter.model.id} had not answered ${state.deadline.text}: only the question was searched.`
  }))
})

/** The mean of the unit vectors. */
const meanVector = (vectors: ReadonlyArray<Float32Array>): Float32Array => {
  const units = vectors.map((vector) => {
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  })
  return units[0]!.map((_, i) => units.reduce((sum, unit) => sum + unit[i]!, 0) / units.length)
}

/** HyDE (Gao et al., 2022): the vector is the mean of the question's and that of an imagined answer. Keywords stay. */
export const hydeStage: RetrievalStage = {
  name: "hyde",
  options: { hyde: stageOption(Schema.Boolean, "true or false") },
  run: (state) =>
    state.options.hyde !== true || state.vector === undefined
      ? Effect.undefined
      : generate("passage", 1, state, (texts) => {
          const vectors = [state.vector, ...texts.map(({ vector }) => vector)]
          return { vector: meanVector(vectors.filter((vector) => vector !== undefined)) }
        })
}

/** Multi-query: other wordings of the question are searched too. A passage has its best score of all searches. */
export const queriesStage: RetrievalStage = {
  name: "queries",
  options: {
    queries: stageOption(
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: MAX_QUERIES })),
      `a whole number from 0 to ${MAX_QUERIES}`
    )
  },
  run: (state) => {
    const { queries = 0 } = state.options
    return queries === 0
      ? Effect.undefined
      : generate("questions", queries, state, (texts) => ({ wordings: [...state.wordings, ...texts] }))
  }
}
