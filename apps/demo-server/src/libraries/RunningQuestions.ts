/** How many questions run at the same time. More are refused: a queue without end would answer none of them in time. */
import { Failure } from "@sluice/core/contract"
import type { LibraryService } from "@sluice/rag"
import { Context, Duration, Effect, Layer, Stream } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"

const tooMany = new Failure({
  status: 503,
  message: "The server answers as many questions as it can. Try again in a moment",
  code: "too_many_questions",
  retryAfter: Duration.seconds(1),
  retryable: true
})

export class RunningQuestions extends Context.Service<RunningQuestions>()(
  "@sluice/demo-server/RunningQuestions",
  {
    make: Effect.gen(function* () {
      const { questions: limit } = (yield* ServerConfig).operation
      let running = 0
      const begin = Effect.acquireRelease(
        Effect.sync(() => running++),
        () => Effect.sync(() => running--)
      )
      const counted = <A, E, R>(question: Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.andThen(begin, question))
      return {
        /** The library, whose questions count. Fails with 503 if too many are running. */
        limit: (library: LibraryService): Effect.Effect<LibraryService, Failure> =>
          Effect.suspend(() =>
            running >= limit
              ? Effect.fail(tooMany)
              : Effect.succeed({
                  ...library,
                  ask: (...given) => counted(library.ask(...given)),
                  askEvents: (...given) => Stream.unwrap(Effect.as(begin, library.askEvents(...given))),
                  retrieve: (...given) => counted(library.retrieve(...given)),
                  summarise: (...given) => counted(library.summarise(...given)),
                  planSummary: (...given) => counted(library.planSummary(...given))
                })
          )
      }
    })
  }
) {
  static readonly layer = Layer.effect(RunningQuestions, RunningQuestions.make)
}
