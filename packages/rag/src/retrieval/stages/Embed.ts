/** Stage 1: the question's vector. */
import { Embedder } from "@sluice/core"
import { Effect, Option, Schema } from "effect"
import { RagError } from "../../document/RagError.ts"
import { checkVector, modelError } from "../../embedding/PassageEmbedder.ts"
import { retrieversOf } from "./Fusion.ts"
import { durationOption, type RetrieveOptions, stageOption } from "./RetrieveOptions.ts"
import type { RetrievalState, RetrievalStage, SearchedText } from "./RetrievalStage.ts"

/** The question after those before it, as a text that is searched too. It has no vector yet. */
export const previousWording = (
  question: string,
  { previous }: RetrieveOptions
): ReadonlyArray<SearchedText> =>
  previous === undefined ? [] : [{ text: `${previous} ${question}`, vector: undefined }]

const embedQuestion = Effect.fn("Embed.question")(function* (
  embedder: typeof Embedder.Service,
  { collection, question, wordings }: RetrievalState
) {
  const texts = [question, ...wordings.map(({ text }) => text)]
  const { vectors } = yield* Effect.mapError(embedder.embed(texts, "query"), modelError("retrieve"))
  const { dimension } = collection.manifest
  const [vector, ...others] = yield* Effect.forEach(texts, (_, i) => {
    const checked = checkVector(vectors[i], dimension, embedder.model.id, "retrieve")
    return checked._tag === "Failed" ? Effect.fail(checked.error) : Effect.succeed(checked.vector)
  })
  return { vector, wordings: wordings.map(({ text }, i) => ({ text, vector: others[i] })) }
})

/** Embeds the question, unless the fusion uses only keywords. A late model leaves keyword search, if the fusion has it. */
export const embedStage: RetrievalStage = {
  name: "embed",
  options: {
    deadline: durationOption,
    previous: stageOption(Schema.String, "a text")
  },
  run: Effect.fnUntraced(function* (state) {
    const { fusion } = state.options
    const retrievers = retrieversOf(fusion)
    if (!retrievers.vector) return undefined
    const embedder = yield* Embedder
    // Started even with no time left: a model in the process answers at once.
    const answer = yield* state.deadline.limit(embedQuestion(embedder, state), { start: true })
    if (Option.isSome(answer)) {
      const texts = answer.value.wordings.map(({ text }) => text)
      return { ...answer.value, ...(texts.length > 0 && { texts }) }
    }
    const late = `The embedding model ${embedder.model.id} had not answered ${state.deadline.text}`
    if (retrievers.keywords) return { failed: `${late}: only keywords were searched.` }
    const message = `${late}, and ${fusion._tag === "Dense" ? "Fusion.dense" : "this fusion"} uses nothing else. Set a later deadline, or a fusion with keywords.`
    return yield* new RagError({ stage: "retrieve", reason: "Model", message })
  })
}
