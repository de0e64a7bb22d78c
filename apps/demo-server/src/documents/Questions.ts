/** The checks of a question before it costs anything. */
import { Failure } from "@sluice/core/contract"
import { type AskOptions, type LibraryService, RagError } from "@sluice/rag"
import { DocumentFormats } from "@sluice/rag/formats"
import { RECALL, RetrievalStages, retrieveOptionsSchema } from "@sluice/rag/retrieval"
import { Effect, Schema } from "effect"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import type { QuestionRequest } from "../contract/Qa.ts"
import { invalidFilter, namesDocuments, toFilter, unknownNames } from "./QuestionFilter.ts"

const emptyQuestion = new RagError({
  stage: "retrieve",
  reason: "Empty",
  message: "The question is empty",
  document: "question"
})

/** Options that are fields of the request. */
const REQUEST_FIELDS = ["recall", "keep", "filter"]

const malformed = (message: string, param: string) => new Failure({ status: 400, message, param })
const malformedOptions = ({ message }: { readonly message: string }) =>
  malformed(`\`options\`: ${message}`, "options")

/** Checks a filter, opens the library with `open`, and returns it with the typed filter. */
export const makeFilterCheck = Effect.gen(function* () {
  const formats = (yield* DocumentFormats).map(({ id }) => id)
  return Effect.fnUntraced(function* <E, R>(
    { collection, filter }: Pick<QuestionRequest, "collection" | "filter">,
    open: Effect.Effect<LibraryService, E, R>
  ) {
    const invalid = invalidFilter(filter, formats)
    if (invalid !== undefined) return yield* invalid
    const library = yield* open
    if (namesDocuments(filter)) {
      const documents = yield* library.documents
      const unknown = unknownNames(filter, collection ?? DEFAULT_COLLECTION, documents)
      if (unknown !== undefined) return yield* unknown
    }
    return { library, filter: toFilter(filter) }
  })
})

/** Checks a question, opens its library with `open`, and returns the library with the options for it. */
export const makeQuestionChecks = Effect.gen(function* () {
  const decode = Schema.decodeUnknownEffect(retrieveOptionsSchema(yield* RetrievalStages))
  /** Decodes the options of the registered stages. */
  const decodeOptions = (options: Readonly<Record<string, unknown>>) => {
    const field = REQUEST_FIELDS.find((name) => Object.hasOwn(options, name))
    return field === undefined
      ? Effect.mapError(decode(options, { onExcessProperty: "error" }), malformedOptions)
      : Effect.fail(malformedOptions({ message: `set \`${field}\` beside \`options\`, not in it` }))
  }
  const checkFilter = yield* makeFilterCheck

  return Effect.fnUntraced(function* <E, R>(
    { collection, context, filter, keep, multi, options: others, question, recall, verify }: QuestionRequest,
    open: Effect.Effect<LibraryService, E, R>
  ) {
    if (question.trim() === "") return yield* emptyQuestion
    const most = recall ?? RECALL
    if ((keep ?? 0) > most)
      return yield* malformed(
        `\`keep\` is ${keep}, more than \`recall\` (${most}). Set a larger \`recall\``,
        "keep"
      )
    const { filter: typed, library } = yield* checkFilter({ collection, filter }, open)
    const options: AskOptions = {
      ...(yield* decodeOptions(others ?? {})),
      ...(recall !== undefined && recall !== null && { recall }),
      ...(keep !== undefined && keep !== null && { keep }),
      ...(context !== undefined && context !== null && { context }),
      ...(multi !== undefined && multi !== null && { multi }),
      ...(verify !== undefined && verify !== null && { verify }),
      ...(typed !== undefined && { filter: typed })
    }
    return { library, options }
  })
})
