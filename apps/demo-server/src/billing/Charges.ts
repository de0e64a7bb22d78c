/** Bills calls: reserves units before a call, and settles or refunds them after it. */
import type { GatewayError } from "@sluice/core"
import type { Failure } from "@sluice/core/contract"
import { Context, Effect, Exit, Layer, Schedule, Stream } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { limitsOf } from "../accounts/KeyLimits.ts"
import type { BillingSettings } from "../config/BillingSettings.ts"
import { ServerConfig } from "../config/ServerConfig.ts"
import { CurrentRequest } from "../http/RequestRecord.ts"
import { Shutdown } from "../http/Shutdown.ts"
import { MediaTasks } from "../media/MediaTasks.ts"
import { CurrentCharge } from "../media/TaskIds.ts"
import type { ProviderResponse } from "../routing/Provider.ts"
import { responseBody } from "../routing/ResponseBody.ts"
import { catchSqlError, warnOfSqlError } from "../sql/StoreFailure.ts"
import { CurrentBill } from "./Bill.ts"
import { insufficientQuota, rateLimited } from "./BillingFailures.ts"
import { countUsage, makeCallEnds, type OpenCall, type PaidCall, recordUsage } from "./CallEnds.ts"
import {
  type CostEstimate,
  estimateCost,
  estimatedTokens,
  settlementFor,
  taskSettlement,
  usageOf
} from "./CostEstimate.ts"
import { idempotentResponses } from "./IdempotentResponses.ts"
import { LEASE_MS } from "./Lease.ts"
import { Ledger } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { limitsForNextCall, rateHeaders, type RateState } from "./RateWindow.ts"
import { makeRetryInBackground } from "./RetryInBackground.ts"
import { makeStreamUsageCounter, type StreamUsageCounter } from "./StreamUsageCounter.ts"

const makeCharges = Effect.gen(function* () {
  const ledger = yield* Ledger
  const prices = yield* Prices
  const tasks = yield* MediaTasks
  const { billing } = yield* ServerConfig
  const { hasBegun, isOver } = yield* Shutdown
  const retryInBackground = yield* makeRetryInBackground
  const running = ledger.running
  const responses = idempotentResponses(
    (charge, replay) => retryInBackground(ledger.storeResponse(charge, replay)),
    isOver
  )

  const { end, endCreation, endFailed, endStream } = makeCallEnds({
    ledger,
    tasks,
    running,
    responses,
    retryInBackground,
    isStopping: hasBegun
  })

  const renewLeases = Effect.suspend(() => ledger.renew([...running])).pipe(
    warnOfSqlError("Could not renew the leases of running calls")
  )
  yield* Effect.forkScoped(Effect.repeat(renewLeases, Schedule.spaced(LEASE_MS / 3)))

  const run = <Request, Response>(
    paid: PaidCall<Request, Response>
  ): Effect.Effect<ProviderResponse<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* (): Effect.fn.Return<
        ProviderResponse<Response>,
        GatewayError | Failure,
        HttpServerRequest.HttpServerRequest
      > {
        const { call, idempotency, meter } = paid
        const context = yield* Effect.context<never>()
        const bill = Context.get(context, CurrentBill)
        const estimate = estimateCost(prices, meter, paid.request, paid.body)
        const reserved = yield* reserve({ ledger, billing }, paid, estimate, bill.callCount())
        if (HttpServerResponse.isHttpServerResponse(reserved)) return reserved
        const open: OpenCall<Request, Response> = {
          paid,
          charge: reserved,
          estimate,
          ended: bill.open(reserved.id, estimatedTokens(estimate)),
          record: Context.get(context, CurrentRequest),
          context
        }
        running.add(reserved.id)
        let counter: StreamUsageCounter | undefined
        if (idempotency !== undefined && !meter.creates) {
          yield* responses.keepSent(reserved, () => counter?.hasError() === true)
        }
        const charged = Effect.provideService(call, CurrentCharge, reserved.id)
        const exit = yield* Effect.exit(meter.creates ? charged : restore(charged))
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
          const usage = usageOf(responseBody(answer, "usage"), estimate, () => countUsage(open))
          yield* end(open, recordUsage(open, settlementFor(estimate, usage)))
        }
        return answer
      })
    )

  const endTask = (
    user: string,
    task: string,
    succeeded: boolean,
    answer: Effect.Effect<unknown> = Effect.undefined
  ): Effect.Effect<void> =>
    retryInBackground(
      Effect.flatMap(ledger.ofTask(user, task), (charge) => {
        if (charge === undefined) return Effect.succeed(false)
        return succeeded
          ? Effect.flatMap(answer, (body) => ledger.settle(charge, taskSettlement(prices, charge, body)))
          : ledger.refund(charge)
      })
    )
  yield* tasks.onEnd((task) => endTask(task.user, task.id, task.status === "completed"))

  return { run, endTask }
})

/** Reserves the maximum cost of a call. Returns the charge, or the stored response of an earlier call. */
const reserve = Effect.fnUntraced(function* <Request, Response>(
  { ledger, billing }: { readonly ledger: Ledger["Service"]; readonly billing: BillingSettings },
  { addHeaders, idempotency, meter, payer, request }: PaidCall<Request, Response>,
  estimate: CostEstimate,
  alreadyCounted: { readonly requests: number; readonly tokens: number }
) {
  const limits = limitsOf(payer.limits, billing)
  const tokens = estimatedTokens(estimate)
  const addRateHeaders = (rate: RateState | undefined) =>
    rate === undefined ? Effect.void : addHeaders(rateHeaders({ ...rate, ...limits }))
  const reservation = yield* catchSqlError(
    ledger.reserve({
      user: payer.user,
      key: payer.key === undefined ? undefined : Number(payer.key),
      operation: meter.operation,
      model: request.model,
      units: estimate.units,
      tokens,
      creates: meter.creates,
      limits: limitsForNextCall(limits, alreadyCounted, tokens),
      idempotency
    })
  )
  switch (reservation._tag) {
    case "Reserved":
      yield* addRateHeaders(reservation.rate)
      return reservation.charge
    case "Replayed":
      return HttpServerResponse.text(reservation.replay.answer, {
        contentType: reservation.replay.contentType,
        headers: { "idempotent-replayed": "true" }
      })
    case "Rejected":
      return yield* reservation.failure
    case "InsufficientQuota":
      return yield* insufficientQuota(reservation.of, estimate.units)
    case "RateLimited":
      yield* addRateHeaders(reservation.rate)
      return yield* rateLimited({ ...reservation.rate, ...limits }, tokens)
  }
})

/**
 * Runs and bills calls.
 *
 * **Details.** `run` reserves units, makes the call, and settles or refunds its charge: before the response is returned, or when
 * a stream ends. If the balance or the limits do not suffice, nothing is called. A call that fails, or that the end of this
 * server interrupts, is refunded. A caller who disconnects before the response is charged for the input, and in the middle
 * of a stream also for the received text. Creations of images and videos are never interrupted, because their result would
 * be lost. `endTask` settles a task's charge by its response if it succeeded, or else refunds it, unless the charge has ended.
 */
export class Charges extends Context.Service<Charges>()("@sluice/demo-server/Charges", {
  make: makeCharges
}) {
  static readonly layer = Layer.effect(Charges, Charges.make)
}
