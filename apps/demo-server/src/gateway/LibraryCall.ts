/** Chat calls of a library's model, which answers from the caller's documents. */
import type { ChatRequest } from "@sluice/core/contract"
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { documentsNotAllowed } from "../accounts/Authenticator.ts"
import { type CallerInfo, CurrentCaller } from "../accounts/Caller.ts"
import { libraryMeter, libraryModelOf, makeLibraryProvider } from "../libraries/LibraryChat.ts"
import { makeModelCall } from "./ModelCall.ts"

/** The call takes the place of `makeModelCall`'s. Undefined for other models. */
export const makeLibraryCall = Effect.gen(function* () {
  const call = yield* makeModelCall([yield* makeLibraryProvider], libraryMeter, ({ chat }) => chat)
  return (
    http: HttpServerRequest.HttpServerRequest,
    caller: CallerInfo,
    request: ChatRequest,
    body: string
  ) => {
    const model = libraryModelOf(request.model)
    if (model === undefined) return undefined
    if (caller.documents === "none") return Effect.fail(documentsNotAllowed)
    return Effect.provideService(call(http, caller, { ...request, model }, body), CurrentCaller, caller)
  }
})
