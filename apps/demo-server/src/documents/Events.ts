/** Server-sent events instead of one JSON answer, for callers that accept them. */
import type { ErrorBody } from "@sluice/core/contract"
import { Cause, Effect, Option, Stream } from "effect"
import { RagError } from "@sluice/rag"
import { ragFailure } from "../libraries/RagFailure.ts"

/** Whether the caller asked for events. */
export const wantsEvents = (headers: { readonly accept?: string }): boolean =>
  headers.accept?.includes("text/event-stream") === true

/** A failure after the answer has begun is its last event; a fault of ours is logged and not shown. */
export const endWithError = <A>(stream: Stream.Stream<A, RagError>) =>
  stream.pipe(
    Stream.catchCause(
      (cause): Stream.Stream<{ readonly type: "error"; readonly error: ErrorBody["error"] }> => {
        const failed = Cause.findErrorOption(cause)
        if (Option.isSome(failed))
          return Stream.make({ type: "error", error: ragFailure(failed.value).body.error })
        if (Cause.hasInterruptsOnly(cause)) return Stream.empty
        const ours = new RagError({
          stage: "answer",
          reason: "Internal",
          message: "The server failed: please report, with what its log says"
        })
        return Stream.fromEffect(
          Effect.as(Effect.logError("A stream broke off", cause), {
            type: "error",
            error: ragFailure(ours).body.error
          })
        )
      }
    )
  )
