/** How many questions run at the same time. More are refused: a queue without end would answer none of them in time. */
import { Failure } from "@sluice/core/contract"
import { type LibraryService, RagError } from "@sluice/rag"
import { Context, Duration, Effect, Layer, Semaphore, Stream } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { countAnswers } from "./AnswerMetrics.ts"

const tooMany = new Failure({
  status: 503,
  message: "The server answers as many questions as it can. Try again in a moment",
  code: "too_many_questions",
  retryAfter: Duration.seconds(1),
  retryable: true
})

/** `tooMany` as an error of the library. */
const refused = new RagError({
  stage: "answer",
  reason: "Internal",
  message: tooMany.message,
  cause: tooMany
})

export class RunningQuestions extends Context.Service<RunningQuestions>()(
  "@sluice/demo-server/RunningQuestions",
  {
    make: Effect.gen(function* () {
      const { questions: limit } = (yield* ServerConfig).operation
      const places = yield* Semaphore.make(limit)
      const take = places.takeIfAvailable(1)
      let running = 0
      const begin = Effect.acquireRelease(
        Effect.flatMap(take, (taken) => (taken ? Effect.sync(() => running++) : Effect.fail(refused))),
        () =>
          Effect.andThen(
            places.release(1),
            Effect.sync(() => running--)
          )
      )
      const counted = <A, E, R>(question: Effect.Effect<A, E, R>) =>
        Effect.scoped(Effect.andThen(begin, question))
      return {
        running: () => running,
        /**
         * The library, whose questions count. Fails with 503 if too many are running, so that a stream has this status.
         * A question fails too if others have begun since.
         */
        limit: (library: LibraryService): Effect.Effect<LibraryService, Failure> =>
          Effect.flatMap(take, (taken) =>
            taken
              ? Effect.as(places.release(1), {
                  ...library,
                  ask: (...given) => counted(countAnswers(library).ask(...given)),
                  askEvents: (...given) =>
                    Stream.unwrap(Effect.as(begin, countAnswers(library).askEvents(...given))),
                  retrieve: (...given) => counted(library.retrieve(...given)),
                  summarise: (...given) => counted(library.summarise(...given)),
                  planSummary: (...given) => counted(library.planSummary(...given))
                })
              : Effect.fail(tooMany)
          )
      }
    })
  }
) {
  static readonly layer = Layer.effect(RunningQuestions, RunningQuestions.make)
}
