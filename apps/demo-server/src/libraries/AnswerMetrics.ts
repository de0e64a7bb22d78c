/** Counts the answers of libraries by their outcome. */
import type { LibraryService } from "@sluice/rag"
import { Cause, Effect, Exit, Metric, Stream } from "effect"

const answers = Metric.counter("sluice_answers_total", {
  description: "Questions that were answered",
  incremental: true
})

/** `failed` and `interrupted` beside the outcomes of answers. */
const count = (outcome: string | undefined, exit: Exit.Exit<unknown, unknown>) => {
  const failed = Exit.isFailure(exit) && !Cause.hasInterrupts(exit.cause)
  const attributes = { outcome: outcome ?? (failed ? "failed" : "interrupted") }
  return Metric.update(Metric.withAttributes(answers, attributes), 1)
}

export const countAnswers = (library: LibraryService): Pick<LibraryService, "ask" | "askEvents"> => ({
  ask: (...given) =>
    Effect.onExit(library.ask(...given), (exit) =>
      count(Exit.isSuccess(exit) ? exit.value.outcome : undefined, exit)
    ),
  askEvents: (...given) =>
    Stream.suspend(() => {
      let outcome: string | undefined
      return library.askEvents(...given).pipe(
        Stream.tap((event) =>
          Effect.sync(() => {
            if (event.type === "answer") outcome = event.answer.outcome
          })
        ),
        Stream.onExit((exit) => count(outcome, exit))
      )
    })
})
