/** Calls that are paid for: reserved before, and settled by what they used or refunded after. */
import type { Failure, GatewayError } from "@sluice/core/contract"
import { Cause, Context, Effect, Exit, Layer, Option, Schedule, Stream } from "effect"
import { HttpBody, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { limitsOf, type ConfiguredLimits } from "../accounts/KeyLimits.ts"
import type { BillingSettings } from "../config/BillingSettings.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isAbandoned } from "../http/HttpErrors.ts"
import { CurrentRequest, type RequestRecord } from "../http/RequestRecord.ts"
import { MediaTasks } from "../media/MediaTasks.ts"
import { countTokensIn } from "../http/RequestMetrics.ts"
import { Shutdown } from "../http/Shutdown.ts"
import type { Answer } from "../routing/Provider.ts"
import { bodyOf, fieldOf, hasImages, imagesIn, taskOutcome } from "../routing/ResponseBody.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { CurrentBill } from "./Bill.ts"
import { quotaShort, tooMany } from "./BillingFailures.ts"
import {
  type CostEstimate,
  estimateCost,
  settlementFor,
  taskSettlement,
  tokensOf,
  usedBy
} from "./CostEstimate.ts"
import type { Idempotency } from "./Idempotency.ts"
import { idempotentResponses } from "./IdempotentResponses.ts"
import { type Charge, LEASE_MS, Ledger, type Settlement } from "./Ledger.ts"
import type { Meter } from "./Meter.ts"
import { Prices } from "./Prices.ts"
import { limitsBeside, rateHeaders, type RateState } from "./RateWindow.ts"
import { boundsOf, secondsOf, settledUsage } from "./ReportedUsage.ts"
import { makeRetryInBackground } from "./RetryInBackground.ts"
import { makeStreamUsageCounter, meteredStream, type StreamUsageCounter } from "./StreamUsageCounter.ts"

/** Who pays: a user, by an API key or by the page's session. */
export interface Payer {
  readonly user: string
  /** The key's id. */
  readonly key?: string
  /** The limits of the key and its user; the server's when not given. */
  readonly limits?: ConfiguredLimits
}

export interface PaidCall<Request, Response> {
  readonly payer: Payer
  readonly meter: Meter<Request>
  readonly request: Request & { readonly model: string }
  readonly body: string
  readonly idempotency: Idempotency | undefined
  /** Encodes the response of a call that creates something, to keep it for a caller who has gone. */
  readonly encode?: ((answer: Response) => string) | undefined
  readonly call: Effect.Effect<Answer<Response>, GatewayError>
  /** Counts a stream whose events do not tell what it used. */
  readonly counter?: StreamUsageCounter
  /** Adds headers to the response, whatever it will be. */
  readonly addHeaders: (
    headers: Record<string, string>
  ) => Effect.Effect<void, never, HttpServerRequest.HttpServerRequest>
}

/** A call whose reserve is open. */
interface OpenCall<Request, Response> {
  readonly paid: PaidCall<Request, Response>
  readonly charge: Charge
  readonly estimate: CostEstimate
  /** Tells the bill of the request that the charge has ended. */
  readonly ended: Effect.Effect<void>
  readonly record: { now: RequestRecord }
  readonly context: Context.Context<never>
}

/** What the server itself counts of a call. */
const counted = <Request, Response>({ estimate, paid: { meter, request } }: OpenCall<Request, Response>) =>
  meter.counted(request, estimate.nonText)

/** Records the tokens of a settlement for the log and the metrics of the request. */
const recorded = <Request, Response>(
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

/** The settlement of a stream, by its own report or by what came; undefined if nothing came. */
const streamSettlement = <Request, Response>(
  open: OpenCall<Request, Response>,
  counter: StreamUsageCounter
): Settlement | undefined => {
  if (counter.failed()) return undefined
  const { estimate } = open
  const usage = settledUsage(counter.usage(), estimate.most, () => counted(open), counter.written)
  return recorded(open, settlementFor(estimate, usage))
}

/** Runs `start` when a stream is first read, and `end` when it ends, however it ends. */
const around = <A, E>(stream: Stream.Stream<A, E>, start: () => void, end: Effect.Effect<void>) =>
  Stream.onExit(
    Stream.suspend(() => {
      start()
      return stream
    }),
    () => end
  )

const makeCharges = Effect.gen(function* () {
  const ledger = yield* Ledger
  const prices = yield* Prices
  const tasks = yield* MediaTasks
  const { billing } = yield* ServerConfig
  const { hasBegun, isOver } = yield* Shutdown
  const retryInBackground = yield* makeRetryInBackground
  const live = ledger.underWay
  const responses = idempotentResponses(
    (charge, replay) => retryInBackground(ledger.remember(charge, replay)),
    isOver
  )

  const renewLeases = Effect.suspend(() => ledger.renew([...live])).pipe(
    Effect.catchTag("SqlError", ({ message }) =>
      Effect.logWarning(`The leases of running calls could not be renewed: ${message}`)
    )
  )
  yield* Effect.forkScoped(Effect.repeat(renewLeases, Schedule.spaced(LEASE_MS / 3)))

  /** Settles, or refunds without a settlement. */
  const end = (
    { charge, ended }: Pick<OpenCall<never, never>, "charge" | "ended">,
    settlement: Settlement | undefined,
    outcomeUnknown = false
  ): Effect.Effect<void> => {
    live.delete(charge.id)
    const write =
      settlement === undefined ? ledger.refund(charge, outcomeUnknown) : ledger.settle(charge, settlement)
    return Effect.ensuring(retryInBackground(write), ended)
  }

  /** Ends a call that created something: at once, or if it is a task, when the task has ended. */
  const endCreation = Effect.fnUntraced(function* <Request, Response>(
    open: OpenCall<Request, Response>,
    answer: Answer<Response>
  ) {
    const { charge, estimate, paid } = open
    const { encode, idempotency, meter, payer } = paid
    if (idempotency !== undefined) yield* responses.keepCreated(charge, answer, encode)
    const { most } = estimate
    const body = bodyOf(answer, "all")
    const id = fieldOf(body, "id")
    const isTask = typeof id === "string" && !hasImages(body)
    const planned = settlementFor(estimate, {
      ...counted(open),
      images: isTask ? most.images : Math.min(imagesIn(body) ?? most.images, most.images),
      seconds: most.seconds === 0 ? 0 : secondsOf(body, most.seconds)
    })
    const kind = meter.operation === "videos" ? "video" : "image"
    const task = isTask ? yield* Effect.option(tasks.find(kind, id, payer.user)) : undefined
    if (task?._tag !== "Some") return yield* end(open, planned)
    live.delete(charge.id)
    yield* retryInBackground(ledger.assign(charge.id, task.value.id, planned.cost))
    // The task may have ended before its charge was assigned.
    const { status } = yield* Effect.orElseSucceed(
      tasks.find(kind, task.value.id, payer.user),
      () => task.value
    )
    const outcome = taskOutcome(answer) ?? taskOutcome({ status })
    if (outcome !== undefined) yield* end(open, outcome ? planned : undefined)
  })

  /** Ends a failed call. A caller who goes away pays for the question; the end of this server is refunded. */
  const endFailed = <Request, Response>(
    open: OpenCall<Request, Response>,
    cause: Cause.Cause<GatewayError>
  ) => {
    const left = Cause.hasInterruptsOnly(cause) && (isAbandoned(cause) || !hasBegun())
    const error = Option.getOrUndefined(Cause.findErrorOption(cause))
    const settlement = left ? recorded(open, settlementFor(open.estimate, counted(open))) : undefined
    return end(open, settlement, error?.inDoubt)
  }

  /** A stream is settled when it ends. */
  const endStream = <Request, Response>(
    open: OpenCall<Request, Response>,
    answer: Answer<Response>,
    counter: StreamUsageCounter
  ): Answer<Response> => {
    const { charge, estimate, paid } = open
    const { meter, request } = paid
    live.delete(charge.id)
    const start = () => live.add(charge.id)
    const ending = Effect.suspend(() => end(open, streamSettlement(open, counter)))
    if (HttpServerResponse.isHttpServerResponse(answer) && answer.body._tag === "Stream") {
      const { contentType, stream } = answer.body
      const bounds = boundsOf(estimate.most, meter.isLimited?.(request) === true)
      const bytes = meteredStream(stream, counter, bounds, meter.hidesUsage?.(request) === true)
      return HttpServerResponse.setBody(answer, HttpBody.stream(around(bytes, start, ending), contentType))
    }
    const events = Stream.map(answer as Stream.Stream<{ readonly data?: unknown }>, (event) => {
      counter.event(event.data)
      return event
    })
    return around(events, start, ending) as Response
  }

  const run = <Request, Response>(
    paid: PaidCall<Request, Response>
  ): Effect.Effect<Answer<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* (): Effect.fn.Return<
        Answer<Response>,
        GatewayError | Failure,
        HttpServerRequest.HttpServerRequest
      > {
        const { call, idempotency, meter } = paid
        const context = yield* Effect.context<never>()
        const bill = Context.get(context, CurrentBill)
        const estimate = estimateCost(prices, meter, paid.request, paid.body)
        const reserved = yield* reserve({ ledger, billing }, paid, estimate, bill.counted())
        if (HttpServerResponse.isHttpServerResponse(reserved)) return reserved
        const open: OpenCall<Request, Response> = {
          paid,
          charge: reserved,
          estimate,
          ended: bill.open(reserved.id, tokensOf(estimate)),
          record: Context.get(context, CurrentRequest),
          context
        }
        live.add(reserved.id)
        let counter: StreamUsageCounter | undefined
        if (idempotency !== undefined && !meter.creates) {
          yield* responses.keepSent(reserved, () => counter?.broke() === true)
        }
        const exit = yield* Effect.exit(meter.creates ? call : restore(call))
        if (Exit.isFailure(exit)) {
          yield* endFailed(open, exit.cause)
          return yield* exit
        }
        const answer = exit.value
        const isStream =
          Stream.isStream(answer) ||
          (HttpServerResponse.isHttpServerResponse(answer) && answer.body._tag === "Stream")
        if (isStream) {
          counter = paid.counter ?? makeStreamUsageCounter()
          return endStream(open, answer, counter)
        }
        if (meter.creates) yield* endCreation(open, answer)
        else {
          const usage = usedBy(bodyOf(answer, "usage"), estimate, () => counted(open))
          yield* end(open, recorded(open, settlementFor(estimate, usage)))
        }
        return answer
      })
    )

  const endTask: Charges["Service"]["endTask"] = (user, task, succeeded, answer = Effect.undefined) =>
    retryInBackground(
      Effect.flatMap(ledger.ofTask(user, task), (charge) => {
        if (charge === undefined) return Effect.succeed(false)
        return succeeded
          ? Effect.flatMap(answer, (told) => ledger.settle(charge, taskSettlement(prices, charge, told)))
          : ledger.refund(charge)
      })
    )
  yield* tasks.onEnd((task) => endTask(task.user, task.id, task.status === "completed"))

  return { run, endTask }
})

/** Reserves the most that a call may cost. The response of an earlier call may take its place. */
const reserve = Effect.fnUntraced(function* <Request, Response>(
  { ledger, billing }: { readonly ledger: Ledger["Service"]; readonly billing: BillingSettings },
  { addHeaders, idempotency, meter, payer, request }: PaidCall<Request, Response>,
  estimate: CostEstimate,
  alreadyCounted: { readonly requests: number; readonly tokens: number }
) {
  const limits = limitsOf(payer.limits, billing)
  const tokens = tokensOf(estimate)
  const tellLimits = (rate: RateState | undefined) =>
    rate === undefined ? Effect.void : addHeaders(rateHeaders({ ...rate, ...limits }))
  const reservation = yield* orUnavailable(
    ledger.reserve({
      user: payer.user,
      key: payer.key === undefined ? undefined : Number(payer.key),
      operation: meter.operation,
      model: request.model,
      units: estimate.units,
      tokens,
      creates: meter.creates,
      limits: limitsBeside(limits, alreadyCounted, tokens),
      idempotency
    })
  )
  switch (reservation._tag) {
    case "Reserved":
      if (reservation.rate !== undefined) yield* tellLimits(reservation.rate)
      return reservation.charge
    case "Answered":
      return HttpServerResponse.text(reservation.replay.answer, {
        contentType: reservation.replay.contentType,
        headers: { "idempotent-replayed": "true" }
      })
    case "Refused":
      return yield* reservation.failure
    case "Short":
      return yield* quotaShort(reservation.of, estimate.units)
    case "Limited":
      yield* tellLimits(reservation.rate)
      return yield* tooMany({ ...reservation.rate, ...limits }, tokens)
  }
})

/** Makes calls that are paid for. */
export class Charges extends Context.Service<
  Charges,
  {
    /**
     * Reserves, calls, and settles or refunds.
     *
     * **Details.** A charge is settled before the response is returned; that of a stream when the stream ends. A caller
     * whose balance or limits do not suffice is refused before anything is called. A failed call, or one that the end of
     * this server interrupts, is refunded. A caller who goes away before the response pays for the question; in the
     * middle of a stream, for what came. A call that creates images or videos is never interrupted: it would be paid
     * for and lost.
     */
    readonly run: <Request, Response>(
      paid: PaidCall<Request, Response>
    ) => Effect.Effect<Answer<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest>
    /**
     * A task has ended: its charge is settled for what its answer tells if it succeeded, and refunded otherwise. Once;
     * a task without a charge costs nothing.
     */
    readonly endTask: (
      user: string,
      task: string,
      succeeded: boolean,
      answer?: Effect.Effect<unknown>
    ) => Effect.Effect<void>
  }
>()("@sluice/demo-server/Charges") {
  static readonly layer = Layer.effect(Charges, makeCharges)
}
