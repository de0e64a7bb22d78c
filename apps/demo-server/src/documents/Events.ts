/** Server-sent events in place of one JSON response. */
import type { ErrorBody } from "@sluice/core/contract"
import { Cause, Effect, Option, Stream } from "effect"
import { RagError } from "@sluice/rag"
import { ragFailure } from "../libraries/RagFailure.ts"

/** Whether the caller accepts server-sent events. */
export const wantsEvents = (headers: { readonly accept?: string }): boolean =>
  headers.accept?.includes("text/event-stream") === true

/** Turns a failure into a last `error` event. Internal errors are logged and not shown. */
export const endWithError = <A>(stream: Stream.Stream<A, RagError>) =>
  stream.pipe(
    Stream.catchCause(
      (cause): Stream.Stream<{ readonly type: "error"; readonly error: ErrorBody["error"] }> => {
        const failed = Cause.findErrorOption(cause)
        if (Option.isSome(failed))
          return Stream.make({ type: "error", error: ragFailure(failed.value).body.error })
        if (Cause.hasInterruptsOnly(cause)) return Stream.empty
        const internal = new RagError({
          stage: "answer",
          reason: "Internal",
          message: "Internal server error. Please report it, with the server's log"
        })
        return Stream.fromEffect(
          Effect.as(Effect.logError("A stream failed", cause), {
            type: "error",
            error: ragFailure(internal).body.error
          })
        )
      }
    )
  )
