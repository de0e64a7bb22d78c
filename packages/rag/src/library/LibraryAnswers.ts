/** The methods of a library that answer questions. */
import { Effect, Option, Queue, Stream } from "effect"
import type { AnswerEvent } from "../answering/Answer.ts"
import { type AskOptions, splitOptions } from "../answering/AnswerOptions.ts"
import type { makeAnswerer } from "../answering/Answerer.ts"
import type { RagError } from "../document/RagError.ts"
import type { Retriever } from "../retrieval/Retriever.ts"
import type { LibraryService } from "./LibraryService.ts"

export const answerMethods = (
  { retrieve }: Retriever,
  answer: Effect.Success<ReturnType<typeof makeAnswerer>>,
  defaults: AskOptions
): Pick<LibraryService, "ask" | "askEvents"> => ({
  ask: Effect.fn("Library.ask")(function* (question, options = {}) {
    const [retrieving, answering] = splitOptions(options, defaults)
    const retrieval = yield* retrieve(question, retrieving)
    const last = yield* lastEvent(answer(question, retrieval, answering), (event) => event.type === "answer")
    return last.answer
  }),
  askEvents: (question, options = {}) =>
    Stream.callback<AnswerEvent, RagError>((queue) =>
      Effect.gen(function* () {
        const [retrieving, answering] = splitOptions(options, defaults)
        const retrieval = yield* retrieve(question, retrieving, (stage) =>
          Effect.asVoid(Queue.offer(queue, { type: "stage", stage }))
        )
        yield* Queue.offer(queue, { type: "recalled", passages: retrieval.trace.passages })
        yield* Stream.runForEach(answer(question, retrieval, answering), (event) => Queue.offer(queue, event))
        yield* Queue.end(queue)
      })
    )
})

/** Runs a stream, and returns its last event, which must be of a certain type. */
export const lastEvent = <A, B extends A>(
  events: Stream.Stream<A, RagError>,
  isLast: (event: A) => event is B
): Effect.Effect<B, RagError> =>
  Effect.flatMap(Stream.runLast(events), (last) =>
    Option.isSome(last) && isLast(last.value)
      ? Effect.succeed(last.value)
      : Effect.die("The stream ended without its last event. Please report this.")
  )
