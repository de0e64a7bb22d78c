/** Ask the documents. */
import { RagError } from "@sluice/rag"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Visitor } from "../contract/Access.ts"
import { ServerApi } from "../contract/ServerApi.ts"
import { endWithError, wantsEvents } from "./Events.ts"
import { keepingCaller } from "./Metered.ts"
import { ragFailure } from "./RagFailure.ts"
import { Shelves } from "./Shelves.ts"

const emptyQuestion = new RagError({
  stage: "retrieve",
  reason: "Empty",
  message: "The question is empty: ask something that the documents may answer",
  document: "question"
})

export const QaLayer = HttpApiBuilder.group(
  ServerApi,
  "qa",
  Effect.fn(function* (handlers) {
    const shelves = yield* Shelves
    return handlers.handleAll({
      ask: Effect.fn("qa.ask")(function* ({ headers, payload: { question, recall, keep } }) {
        // Checked before the first event, so that callers of both kinds get the status.
        if (question.trim() === "") return yield* ragFailure(emptyQuestion)
        const shelf = yield* shelves.of((yield* Visitor).user)
        const library = yield* Effect.mapError(shelf.library, ragFailure)
        const options = {
          ...(recall !== undefined && recall !== null && { recall }),
          ...(keep !== undefined && keep !== null && { keep })
        }
        return wantsEvents(headers)
          ? endWithError(yield* keepingCaller(library.askEvents(question, options)))
          : yield* Effect.mapError(library.ask(question, options), ragFailure)
      })
    })
  })
)
