/** A call and its money: reserved before it, settled by what it used or refunded after it. */
import type { Failure } from "@sluice/core/contract"
import type { GatewayError } from "@sluice/core"
import { Cause, Context, Effect, Exit, Layer, Option, Schedule, Stream } from "effect"
import { HttpBody, HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { ServerConfig } from "../config/ServerConfig.ts"
import { isAbandoned } from "../http/HttpErrors.ts"
import { CurrentCaller } from "../accounts/Caller.ts"
import { limitsOf } from "../accounts/KeyLimits.ts"
import { orUnavailable } from "../sql/StoreFailure.ts"
import { MediaTasks } from "../media/MediaTasks.ts"
import { countTokensIn } from "../operation/RequestMetrics.ts"
import { CurrentRequest } from "../http/RequestRecord.ts"
import { Shutdown } from "../operation/Shutdown.ts"
import type { Answer } from "../routing/Provider.ts"
import { CurrentBill } from "./Bill.ts"
import type { Idempotency, Replay } from "./Idempotency.ts"
import { keeping } from "./IdempotentResponses.ts"
import { type Charge, LEASE_MS, Ledger, type Settlement } from "./Ledger.ts"
import type { Meter } from "./Meter.ts"
import { paidEvents } from "./MeteredStream.ts"
import { Prices, type Usage } from "./Prices.ts"
import {
  purchaseOf,
  type Quote,
  quoteOf,
  settlementOf,
  settlementOfTask,
  tokensOf,
  usedBy
} from "./CostEstimate.ts"
import { limitsBeside, rateHeaders, type RateState } from "./RateWindow.ts"
import { quotaShort, tooMany } from "./BillingFailures.ts"
import { boundsOf, secondsOf, settledUsage } from "./ReportedUsage.ts"
import { bodyOf, fieldOf, hasImages, imagesIn, taskOutcome } from "../routing/ResponseBody.ts"
import { makeSurely } from "./RetryInBackground.ts"
import { makeTally, type Tally } from "./StreamUsageCounter.ts"

/** Who pays: a user, by one of its keys or by the page's session. */
export interface Payer {
  readonly user: string
  readonly key?: string
}

export interface PaidCall<Request, Response> {
  readonly payer: Payer
  readonly meter: Meter<Request>
  readonly request: Request & { readonly model: string }
  readonly body: string
  readonly idempotency: Idempotency | undefined
  /** An answer as it is sent, where it makes something: it is kept for a caller who has gone, too. */
  readonly encode?: ((answer: Response) => string) | undefined
  readonly call: Effect.Effect<Answer<Response>, GatewayError>
  /** What a stream used, where its own events do not tell. */
  readonly tally?: Tally
}

const addHeaders = (headers: Record<string, string>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )

const replayed = ({ answer, contentType }: Replay) =>
  HttpServerResponse.text(answer, { contentType, headers: { "idempotent-replayed": "true" } })

/** A charge that tells when it has ended. */
interface Opened extends Charge {
  readonly ended: Effect.Effect<void>
}

/** Settles a stream when it ends, however it ends. */
const onEnd = <A, E>(stream: Stream.Stream<A, E>, begin: () => void, end: Effect.Effect<void>) =>
  Stream.onExit(
    Stream.suspend(() => {
      begin()
      return stream
    }),
    () => end
  )

export class Charges extends Context.Service<
  Charges,
  {
    /**
     * Makes a call that is paid for.
     *
     * **Details.** A caller whose balance or limits do not let it through is told so, and nothing is called. A call that
     * fails, or is broken off by the end of this server, is refunded. Who goes away before the answer pays for the
     * question, since it was asked; in the middle of an answer, for what there was of it. What makes images or videos is
     * not broken off: it would be paid for, and lost.
     */
    readonly around: <Request, Response>(
      paid: PaidCall<Request, Response>
    ) => Effect.Effect<Answer<Response>, GatewayError | Failure, HttpServerRequest.HttpServerRequest>
    /**
     * A task has ended: settled where it has made something, for what its answer tells, and refunded else. Once; of a
     * task without a charge, nothing.
     */
    readonly ended: (
      user: string,
      task: string,
      made: boolean,
      answer?: Effect.Effect<unknown>
    ) => Effect.Effect<void>
  }
>()("@sluice/demo-server/Charges") {
  static readonly layer = Layer.effect(
    Charges,
    Effect.gen(function* () {
      const ledger = yield* Ledger
      const prices = yield* Prices
      const tasks = yield* MediaTasks
      const { billing } = yield* ServerConfig
      const { hasBegun, isOver } = yield* Shutdown
      const { surely } = yield* makeSurely
      const live = ledger.underWay

      yield* Effect.forkScoped(
        Effect.repeat(
          Effect.suspend(() => ledger.renew([...live])).pipe(
            Effect.catchTag("SqlError", ({ message }) =>
              Effect.logWarning(`Calls under way could not be kept from being given back: ${message}`)
            )
          ),
          Schedule.spaced(LEASE_MS / 3)
        )
      )

      const { keepMade, keepSent } = keeping(
        (charge, replay) => surely(ledger.remember(charge, replay)),
        isOver
      )

      const end = (charge: Opened, settlement: Settlement | undefined, inDoubt = false) => {
        live.delete(charge.id)
        if (settlement === undefined) {
          return Effect.ensuring(surely(ledger.refund(charge, inDoubt)), charge.ended)
        }
        return Effect.ensuring(surely(ledger.settle(charge, settlement)), charge.ended)
      }

      const admit = Effect.fnUntraced(function* <Request, Response>({
        body,
        idempotency,
        meter,
        payer,
        request
      }: PaidCall<Request, Response>) {
        const quote = quoteOf(prices, meter, request, body)
        const told = (rate: RateState | undefined) =>
          rate === undefined ? Effect.void : addHeaders(rateHeaders(rate))
        const limits = limitsOf((yield* CurrentCaller).limits, billing)
        const beside = (yield* CurrentBill).counted()
        const buyer = {
          user: payer.user,
          key: payer.key === undefined ? undefined : Number(payer.key),
          limits: limitsBeside(limits, beside, tokensOf(quote)),
          idempotency
        }
        const purchase = purchaseOf(quote, meter, request.model, buyer)
        const reservation = yield* orUnavailable(ledger.reserve(purchase))
        switch (reservation._tag) {
          case "Reserved":
            yield* told(reservation.rate && { ...reservation.rate, ...limits })
            return { charge: reservation.charge, quote }
          case "Answered":
            return replayed(reservation.replay)
          case "Refused":
            return yield* reservation.failure
          case "Short":
            return yield* quotaShort(reservation.of, quote.units)
          case "Limited":
            yield* told({ ...reservation.rate, ...limits })
            return yield* tooMany({ ...reservation.rate, ...limits }, purchase.tokens)
        }
      })

      /** What was made is paid for: at once, or of a task when that has ended. */
      const endMade = Effect.fnUntraced(function* <Request, Response>(
        { encode, idempotency, meter, payer, request }: PaidCall<Request, Response>,
        charge: Opened,
        quote: Quote,
        answer: Answer<Response>
      ) {
        if (idempotency !== undefined) yield* keepMade(charge, answer, encode)
        const { beyond, most } = quote
        const value = bodyOf(answer, "all")
        const id = fieldOf(value, "id")
        const isTask = typeof id === "string" && !hasImages(value)
        const planned = settlementOf(quote, {
          ...meter.counted(request, beyond),
          images: isTask ? most.images : Math.min(imagesIn(value) ?? most.images, most.images),
          seconds: most.seconds === 0 ? 0 : secondsOf(value, most.seconds)
        })
        const kind = meter.operation === "videos" ? "video" : "image"
        const task = isTask ? yield* Effect.option(tasks.find(kind, id, payer.user)) : undefined
        if (task?._tag !== "Some") return yield* end(charge, planned)
        live.delete(charge.id)
        yield* surely(ledger.assign(charge.id, task.value.id, planned.cost))
        // It may have ended before it was known whose charge it is.
        const { status } = yield* Effect.orElseSucceed(
          tasks.find(kind, task.value.id, payer.user),
          () => task.value
        )
        const ended = taskOutcome(answer) ?? taskOutcome({ status })
        if (ended !== undefined) yield* end(charge, ended ? planned : undefined)
      })

      const around = <Request, Response>(paid: PaidCall<Request, Response>) =>
        Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* (): Effect.fn.Return<
            Answer<Response>,
            GatewayError | Failure,
            HttpServerRequest.HttpServerRequest
          > {
            const { meter, request } = paid
            const admitted = yield* admit(paid)
            if (HttpServerResponse.isHttpServerResponse(admitted)) return admitted
            const { quote } = admitted
            const { most } = quote
            const bill = yield* CurrentBill
            const charge: Opened = {
              ...admitted.charge,
              ended: bill.open(admitted.charge.id, tokensOf(quote))
            }
            live.add(charge.id)
            let tally: Tally | undefined
            if (paid.idempotency !== undefined && !meter.creates) {
              yield* keepSent(charge, () => tally?.broke() === true)
            }

            const settled = (usage: Usage) => settlementOf(quote, usage)
            const counted = () => meter.counted(request, quote.beyond)
            const record = yield* CurrentRequest
            const context = yield* Effect.context<never>()
            /** Several calls may be made for one request, which is of no one model then. */
            const noted = (settlement: Settlement): Settlement => {
              if (record.now.model === undefined) countTokensIn(context, request.model, settlement)
              const { inputTokens = 0, outputTokens = 0 } = record.now
              record.now = {
                ...record.now,
                inputTokens: inputTokens + settlement.inputTokens,
                outputTokens: outputTokens + settlement.outputTokens
              }
              return settlement
            }

            const { call } = paid
            const exit = yield* Effect.exit(meter.creates ? call : restore(call))
            if (Exit.isFailure(exit)) {
              const left = Cause.hasInterruptsOnly(exit.cause) && (isAbandoned(exit.cause) || !hasBegun())
              const error = Option.getOrUndefined(Exit.findErrorOption(exit))
              yield* end(charge, left ? noted(settled(counted())) : undefined, error?.inDoubt)
              return yield* exit
            }
            const answer = exit.value

            const endTally = (tally: Tally) =>
              Effect.suspend(() =>
                end(
                  charge,
                  tally.failed()
                    ? undefined
                    : noted(settled(settledUsage(tally.usage(), most, counted, tally.written)))
                )
              )
            const begin = () => live.add(charge.id)
            if (Stream.isStream(answer)) {
              const seen = (tally = paid.tally ?? makeTally())
              live.delete(charge.id)
              const events = Stream.map(answer as Stream.Stream<{ readonly data?: unknown }>, (event) => {
                seen.event(event.data)
                return event
              })
              return onEnd(events, begin, endTally(seen)) as Response
            }
            if (HttpServerResponse.isHttpServerResponse(answer) && answer.body._tag === "Stream") {
              const seen = (tally = makeTally())
              live.delete(charge.id)
              const { contentType, stream } = answer.body
              const bounds = boundsOf(most, meter.isLimited?.(request) === true)
              const bytes = paidEvents(stream, seen, bounds, meter.hidesUsage?.(request) === true)
              return HttpServerResponse.setBody(
                answer,
                HttpBody.stream(onEnd(bytes, begin, endTally(seen)), contentType)
              )
            }

            if (meter.creates) yield* endMade(paid, charge, quote, answer)
            else yield* end(charge, noted(settled(usedBy(bodyOf(answer, "usage"), quote, counted))))
            return answer
          })
        )

      const ended: Charges["Service"]["ended"] = (user, task, made, answer = Effect.undefined) =>
        surely(
          Effect.flatMap(ledger.ofTask(user, task), (charge) => {
            if (charge === undefined) return Effect.succeed(false)
            return made
              ? Effect.flatMap(answer, (told) =>
                  ledger.settle(charge, settlementOfTask(prices, charge, told))
                )
              : ledger.refund(charge)
          })
        )
      yield* tasks.onEnd((task) => ended(task.user, task.id, task.status === "completed"))

      return { around, ended }
    })
  )
}
