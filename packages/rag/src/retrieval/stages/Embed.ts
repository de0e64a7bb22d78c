/** Stage 1: the question's vector. */
import { Embedder } from "@sluice/core"
import { Effect, Option, Schema } from "effect"
import { RagError } from "../../document/RagError.ts"
import { checkVector, modelError } from "../../embedding/PassageEmbedder.ts"
import type { Collection } from "../../store/PassageIndex.ts"
import { retrieversOf } from "./Fusion.ts"
import { durationOption, type RetrieveOptions, stageOption } from "./RetrieveOptions.ts"
import type { RetrievalStage, SearchedText } from "./RetrievalStage.ts"

/** The question after those before it, as a text that is searched too. It has no vector yet. */
export const previousWording = (
  question: string,
  { previous }: RetrieveOptions
): ReadonlyArray<SearchedText> =>
  previous === undefined ? [] : [{ text: `${previous} ${question}`, vector: undefined }]

/** The texts with their vectors. */
export const embedTexts = Effect.fn("Embed.texts")(function* (
  texts: ReadonlyArray<string>,
  purpose: "passage" | "query",
  { manifest }: Collection
) {
  const { embed, model } = yield* Embedder
  const { vectors } = yield* Effect.mapError(embed(texts, purpose), modelError("retrieve"))
  return yield* Effect.forEach(texts, (text, i) => {
    const checked = checkVector(vectors[i], manifest.dimension, model.id, "retrieve")
    return checked._tag === "Failed"
      ? Effect.fail(checked.error)
      : Effect.succeed<SearchedText>({ text, vector: checked.vector })
  })
})

/** Embeds the question, unless the fusion uses only keywords. A late model leaves keyword search, if the fusion has it. */
export const embedStage: RetrievalStage = {
  name: "embed",
  options: {
    deadline: durationOption,
    previous: stageOption(Schema.String, "a text")
  },
  run: Effect.fnUntraced(function* (state) {
    const { collection, deadline, options, question } = state
    const { fusion } = options
    const retrievers = retrieversOf(fusion)
    if (!retrievers.vector) return undefined
    const texts = state.wordings.map(({ text }) => text)
    // Started even with no time left: a model in the process answers at once.
    const embedded = embedTexts([question, ...texts], "query", collection)
    const answer = yield* deadline.limit(embedded, { start: true })
    if (Option.isSome(answer)) {
      const [asked, ...wordings] = answer.value
      return { vector: asked?.vector, wordings, ...(texts.length > 0 && { texts }) }
    }
    const late = `The embedding model ${(yield* Embedder).model.id} had not answered ${deadline.text}`
    if (retrievers.keywords) return { failed: `${late}: only keywords were searched.` }
    const message = `${late}, and ${fusion._tag === "Dense" ? "Fusion.dense" : "this fusion"} uses nothing else. Set a later deadline, or a fusion with keywords.`
    return yield* new RagError({ stage: "retrieve", reason: "Model", message })
  })
}
