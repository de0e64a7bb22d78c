/** The methods of a library that answer questions. */
import type { ConversationTurn } from "@sluice/core/models"
import { Effect, Option, Queue, Ref, Stream } from "effect"
import { withCitationDetails } from "../answering/CitationDetails.ts"
import type { Answer, AnswerEvent } from "../answering/Answer.ts"
import { type AskOptions, splitOptions } from "../answering/AnswerOptions.ts"
import { CLOSEST, closestPassages } from "../answering/ClosestPassages.ts"
import type { makeAnswerer } from "../answering/Answerer.ts"
import {
  type ConversationOptions,
  type makeStandalone,
  turnOf,
  type UnderstoodQuestion
} from "../answering/Standalone.ts"
import { type PartRetrieval, retrieveParts } from "../answering/PartRetrieval.ts"
import { requireQuestion } from "../document/Arguments.ts"
import type { RagError } from "../document/RagError.ts"
import { checkOptions, stageOptions } from "../retrieval/RetrievePlan.ts"
import type { Retriever } from "../retrieval/Retriever.ts"
import type { StageTime } from "../retrieval/stages/Trace.ts"
import { QUESTION_OPTIONS } from "./LibraryOptions.ts"
import type { LibraryConversation, LibraryService } from "./LibraryService.ts"

export const answerMethods = (
  { isLexical, retrieve, stages }: Retriever,
  understand: Effect.Success<typeof makeStandalone>,
  answer: Effect.Success<ReturnType<typeof makeAnswerer>>,
  defaults: AskOptions
): Pick<LibraryService, "ask" | "askEvents" | "conversation"> => {
  const declared = { ...QUESTION_OPTIONS, ...stageOptions(stages) }
  /** Completes the question, retrieves, and returns the events of the answer that are left. */
  const start = Effect.fnUntraced(function* (
    question: string,
    given: ConversationOptions | null,
    onUnderstood: (understood: UnderstoodQuestion) => Effect.Effect<unknown>,
    onStage?: (stage: StageTime) => Effect.Effect<void>
  ) {
    yield* requireQuestion(question)
    const checked: ConversationOptions = yield* checkOptions("answer", declared, given)
    const { history, standalone, ...options } = checked
    const [retrieving, answering] = splitOptions(options, defaults)
    const understood = yield* understand(question, { history, standalone })
    yield* onUnderstood(understood)
    const { multi = true } = answering
    const { previous } = understood
    const searching = previous === undefined ? retrieving : { ...retrieving, previous }
    const retrieval = yield* retrieveParts(retrieve, understood.question, searching, multi, onStage)
    const deeper = retrieveParts(retrieve, understood.question, { ...searching, ...CLOSEST }, multi)
    const closest = closestPassages(understood.question, retrieval, isLexical ? deeper : undefined)
    const before = understood.standalone === undefined ? previous : undefined
    const events = answer(
      understood.question,
      withRewriting(retrieval, understood),
      answering,
      before,
      closest
    )
    const detailed = Stream.map(events, withCitationDetails(retrieval))
    return { retrieval, events: Stream.map(detailed, ofQuestion(question, understood)) }
  })

  const ask: LibraryService["ask"] = Effect.fn("Library.ask")(function* (question, options = {}) {
    const { events } = yield* start(question, options, () => Effect.void)
    return (yield* lastEvent(events, (event) => event.type === "answer")).answer
  })
  const askEvents: LibraryService["askEvents"] = (question, options = {}) =>
    Stream.callback<AnswerEvent, RagError>((queue) =>
      Effect.gen(function* () {
        const offer = (event: AnswerEvent) => Effect.asVoid(Queue.offer(queue, event))
        const { events, retrieval } = yield* start(
          question,
          options,
          ({ stage, standalone }) =>
            Effect.andThen(
              standalone === undefined ? Effect.void : offer({ type: "standalone", standalone }),
              stage === undefined ? Effect.void : offer({ type: "stage", stage })
            ),
          (stage) => offer({ type: "stage", stage })
        )
        yield* offer({ type: "recalled", passages: retrieval.trace.passages })
        yield* Stream.runForEach(events, offer)
        yield* Queue.end(queue)
      })
    )

  const conversation: LibraryService["conversation"] = Effect.fnUntraced(function* (history = []) {
    const turns = yield* Ref.make<ReadonlyArray<ConversationTurn>>(history)
    const remember = (answer: Answer) => Ref.update(turns, (before) => [...before, turnOf(answer)])
    return {
      turns: Ref.get(turns),
      ask: (question, options) =>
        Effect.flatMap(Ref.get(turns), (history) => ask(question, { ...options, history })).pipe(
          Effect.tap(remember)
        ),
      askEvents: (question, options) =>
        Stream.unwrap(
          Effect.map(Ref.get(turns), (history) => askEvents(question, { ...options, history }))
        ).pipe(Stream.tap((event) => (event.type === "answer" ? remember(event.answer) : Effect.void)))
    } satisfies LibraryConversation
  })

  return { ask, askEvents, conversation }
}

/** The trace begins with the completion of the question. */
const withRewriting = (
  { trace, ...rest }: PartRetrieval,
  { rewriterModel, stage }: UnderstoodQuestion
): PartRetrieval => ({
  ...rest,
  trace: {
    ...trace,
    ...(rewriterModel !== undefined && { rewriterModel }),
    stages: stage === undefined ? trace.stages : [stage, ...trace.stages]
  }
})

/** The answer says what was asked, and how it was understood. */
const ofQuestion =
  (question: string, { standalone }: UnderstoodQuestion) =>
  (event: AnswerEvent): AnswerEvent =>
    event.type === "answer" && standalone !== undefined
      ? { ...event, answer: { ...event.answer, question, standalone } }
      : event

/** Runs a stream, and returns its last event, which must be of a certain type. */
export const lastEvent = <A, B extends A, E, R>(
  events: Stream.Stream<A, E, R>,
  isLast: (event: A) => event is B
): Effect.Effect<B, E, R> =>
  Effect.flatMap(Stream.runLast(events), (last) =>
    Option.isSome(last) && isLast(last.value)
      ? Effect.succeed(last.value)
      : Effect.die("The stream ended without its last event. Please report this.")
  )
