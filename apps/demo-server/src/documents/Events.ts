/** Server-sent events in place of one JSON response. */
import { Cause, Effect, Option, Stream } from "effect"
import { RagError } from "@sluice/rag"
import { ragFailure } from "../libraries/RagFailure.ts"

/** Whether the caller accepts server-sent events. */
export const wantsEvents = (headers: { readonly accept?: string }): boolean =>
  headers.accept?.includes("text/event-stream") === true

const internal = new RagError({
  stage: "answer",
  reason: "Internal",
  message: "Internal server error. Please report it, with the server's log"
})

const errorEvent = (error: RagError) => ({ type: "error" as const, error: ragFailure(error).body.error })

/** Turns a failure into a last `error` event. Internal errors are logged and not shown. */
export const endWithError = <A>(stream: Stream.Stream<A, RagError>) =>
  Stream.catchCause(stream, (cause): Stream.Stream<ReturnType<typeof errorEvent>> => {
    const failed = Cause.findErrorOption(cause)
    if (Option.isSome(failed)) return Stream.make(errorEvent(failed.value))
    if (Cause.hasInterruptsOnly(cause)) return Stream.empty
    return Stream.fromEffect(Effect.as(Effect.logError("A stream failed", cause), errorEvent(internal)))
  })
