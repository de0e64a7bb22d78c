/** Calls that are paid for: reserved before, and settled by what they used or refunded after. */
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
import type { ProviderAnswer } from "../routing/Provider.ts"
import { responseBody } from "../routing/ResponseBody.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { CurrentBill } from "./Bill.ts"
import { insufficientQuota, rateLimited } from "./BillingFailures.ts"
import { counted, makeCallEnds, type OpenCall, type PaidCall, recorded } from "./CallEnds.ts"
import {
  type CostEstimate,
  estimateCost,
  estimatedTokens,
  settlementFor,
  taskSettlement,
  usageOf
} from "./CostEstimate.ts"
import { idempotentResponses } from "./IdempotentResponses.ts"
import { LEASE_MS, Ledger } from "./Ledger.ts"
import { Prices } from "./Prices.ts"
import { limitsBeside, rateHeaders, type RateState } from "./RateWindow.ts"
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
    (charge, replay) => retryInBackground(ledger.remember(charge, replay)),
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
    Effect.catchTag("SqlError", ({ message }) =>
      Effect.logWarning(`The leases of running calls could not be renewed: ${message}`)
    )
  )
  yield* Effect.forkScoped(Effect.repeat(renewLeases, Schedule.spaced(LEASE_MS / 3)))

  const run = <Request, Response>(
    paid: PaidCall<Request, Response>
  ): Effect.Effect<ProviderAnswer<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest> =>
    Effect.uninterruptibleMask((restore) =>
      Effect.gen(function* (): Effect.fn.Return<
        ProviderAnswer<Response>,
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
          ended: bill.open(reserved.id, estimatedTokens(estimate)),
          record: Context.get(context, CurrentRequest),
          context
        }
        running.add(reserved.id)
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
          const usage = usageOf(responseBody(answer, "usage"), estimate, () => counted(open))
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
  const tokens = estimatedTokens(estimate)
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
      yield* tellLimits(reservation.rate)
      return yield* rateLimited({ ...reservation.rate, ...limits }, tokens)
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
    ) => Effect.Effect<ProviderAnswer<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest>
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
