/** Ends the charges of calls: settles them for their usage, or refunds them. */
import type { GatewayError } from "@sluice/core"
import { Cause, type Context, Effect, Option, Stream } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { CallerInfo } from "../accounts/Caller.ts"
import { isAbandoned } from "../http/HttpErrors.ts"
import { countTokensIn } from "../http/RequestMetrics.ts"
import type { RequestRecord } from "../http/RequestRecord.ts"
import type { MediaTasks } from "../media/MediaTasks.ts"
import type { ProviderResponse } from "../routing/Provider.ts"
import { fieldOf, hasImages, imagesIn, mediaBody, taskOutcome } from "../routing/ResponseBody.ts"
import { type CostEstimate, settlementFor, variantOf } from "./CostEstimate.ts"
import type { Idempotency } from "./Idempotency.ts"
import type { IdempotentResponses } from "./IdempotentResponses.ts"
import type { Charge, Ledger, Settlement } from "./Ledger.ts"
import type { Meter } from "./Meter.ts"
import { streamBounds, billedSeconds, billedUsage } from "./ReportedUsage.ts"
import type { RetryInBackground } from "./RetryInBackground.ts"
import { meteredStream, type StreamUsageCounter } from "./StreamUsageCounter.ts"

/** A call to bill. */
export interface PaidCall<Request, Response> {
  /** The user to charge, with the API key if there is one. */
  readonly payer: Pick<CallerInfo, "user" | "key" | "limits">
  readonly meter: Meter<Request>
  readonly request: Request & { readonly model: string }
  readonly body: string
  readonly idempotency: Idempotency | undefined
  /** Encodes the response of a creation, to store it for its `Idempotency-Key`. */
  readonly encode?: ((answer: Response) => string) | undefined
  readonly call: Effect.Effect<ProviderResponse<Response>, GatewayError>
  /** Counts a stream whose events do not report the usage. */
  readonly counter?: StreamUsageCounter
  /** Adds headers to the response, also to an error. */
  readonly addHeaders: (
    headers: Record<string, string>
  ) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
}

/** A call whose reserve is open. */
export interface OpenCall<Request, Response> {
  readonly paid: PaidCall<Request, Response>
  readonly charge: Charge
  readonly estimate: CostEstimate
  /** Reports the end of the charge to the bill of the request. */
  readonly ended: Effect.Effect<void>
  readonly record: { now: RequestRecord }
  readonly context: Context.Context<never>
}

/** The usage before a response, by the server's own count. */
export const countUsage = <Request, Response>({
  estimate,
  paid: { meter, request }
}: OpenCall<Request, Response>) => meter.countUsage(request, estimate.nonText)

/** Records the tokens of a settlement in the log and the metrics of the request. */
export const recordUsage = <Request, Response>(
  { context, paid, record }: OpenCall<Request, Response>,
  settlement: Settlement
): Settlement => {
  // A request that makes several calls has no model of its own.
  if (record.now.model === undefined) countTokensIn(context, paid.request.model, settlement)
  const { inputTokens = 0, outputTokens = 0 } = record.now
  record.now = {
    ...record.now,
    inputTokens: inputTokens + settlement.inputTokens,
    outputTokens: outputTokens + settlement.outputTokens
  }
  return settlement
}

/** The settlement of a stream, by its reported usage or by its received text; undefined if it is empty. */
const streamSettlement = <Request, Response>(
  open: OpenCall<Request, Response>,
  counter: StreamUsageCounter
): Settlement | undefined => {
  if (counter.isEmpty()) return undefined
  const { estimate } = open
  const usage = billedUsage(counter.usage(), estimate.most, () => countUsage(open), counter.totalTokens)
  return recordUsage(open, settlementFor(estimate, usage))
}

/** Runs `start` when a stream is first read, and `end` when it completes, fails or is interrupted. */
const around = <A, E>(stream: Stream.Stream<A, E>, start: () => void, end: Effect.Effect<void>) =>
  Stream.onExit(
    Stream.suspend(() => {
      start()
      return stream
    }),
    () => end
  )

interface CallEndDependencies {
  readonly ledger: Ledger["Service"]
  readonly tasks: MediaTasks["Service"]
  /** The charges of running calls, whose leases are renewed. */
  readonly running: Set<string>
  readonly responses: IdempotentResponses
  readonly retryInBackground: RetryInBackground
  /** Whether this server is stopping. */
  readonly isStopping: () => boolean
}

export const makeCallEnds = ({
  isStopping,
  ledger,
  running,
  responses,
  retryInBackground,
  tasks
}: CallEndDependencies) => {
  /** Settles, or refunds without a settlement. */
  const end = (
    { charge, ended }: Pick<OpenCall<never, never>, "charge" | "ended">,
    settlement: Settlement | undefined,
    outcomeUnknown = false
  ): Effect.Effect<void> => {
    running.delete(charge.id)
    const write =
      settlement === undefined ? ledger.refund(charge, outcomeUnknown) : ledger.settle(charge, settlement)
    return Effect.ensuring(retryInBackground(write), ended)
  }

  /** Ends a creation at once, or if it started a task, when the task ends. */
  const endCreation = Effect.fnUntraced(function* <Request, Response>(
    open: OpenCall<Request, Response>,
    answer: ProviderResponse<Response>
  ) {
    const { charge, estimate, paid } = open
    const { encode, idempotency, meter, payer } = paid
    if (idempotency !== undefined) yield* responses.keepCreated(charge, answer, encode)
    const { most } = estimate
    const body = mediaBody(answer)
    const id = fieldOf(body, "id")
    const isTask = typeof id === "string" && !hasImages(body)
    const planned = settlementFor(estimate, {
      ...countUsage(open),
      ...variantOf(body),
      images: isTask ? most.images : Math.min(imagesIn(body) ?? most.images, most.images),
      seconds: most.seconds === 0 ? 0 : billedSeconds(body, most.seconds)
    })
    const kind = meter.operation === "videos" ? "video" : "image"
    const task = isTask ? yield* Effect.option(tasks.find(kind, id, payer.user)) : undefined
    if (task?._tag !== "Some") return yield* end(open, planned)
    running.delete(charge.id)
    yield* retryInBackground(ledger.assign(charge.id, task.value.id, planned.cost))
    // The task may have ended before its charge was assigned.
    const { status } = yield* Effect.orElseSucceed(
      tasks.find(kind, task.value.id, payer.user),
      () => task.value
    )
    const outcome = taskOutcome(answer) ?? taskOutcome({ status })
    if (outcome !== undefined) yield* end(open, outcome ? planned : undefined)
  })

  /**
   * Ends a failed call. If the caller disconnected, the input is charged. A call that the end of this server interrupts is
   * refunded.
   */
  const endFailed = <Request, Response>(
    open: OpenCall<Request, Response>,
    cause: Cause.Cause<GatewayError>
  ) => {
    const disconnected = Cause.hasInterruptsOnly(cause) && (isAbandoned(cause) || !isStopping())
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    const settlement = disconnected
      ? recordUsage(open, settlementFor(open.estimate, countUsage(open)))
      : undefined
    return end(open, settlement, error?.outcomeUnknown)
  }

  /** Settles a stream when it ends. */
  const endStream = <Request, Response>(
    open: OpenCall<Request, Response>,
    answer: ProviderResponse<Response>,
    counter: StreamUsageCounter
  ): ProviderResponse<Response> => {
    const { charge, estimate, paid } = open
    const { meter, request } = paid
    running.delete(charge.id)
    const start = () => running.add(charge.id)
    const ending = Effect.suspend(() => end(open, streamSettlement(open, counter)))
    if (HttpServerResponse.isHttpServerResponse(answer) && answer.body._tag === "Stream") {
      const { contentType, stream } = answer.body
      const bounds = streamBounds(estimate.most, meter.isLimited?.(request) === true)
      const bytes = meteredStream(stream, counter, bounds, meter.hidesUsage?.(request) === true)
      return HttpServerResponse.setBody(answer, HttpBody.stream(around(bytes, start, ending), contentType))
    }
    const events = Stream.map(answer as Stream.Stream<{ readonly data?: unknown }>, (event) => {
      counter.event(event.data)
      return event
    })
    return around(events, start, ending) as Response
  }

  return { end, endCreation, endFailed, endStream }
}
