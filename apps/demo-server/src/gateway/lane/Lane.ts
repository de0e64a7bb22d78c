/**
 * The shortest way through the server, for the calls that come by the thousand: JSON in its usual form, by an API key,
 * for a model behind this gateway, answered as a whole.
 *
 * Router, middlewares, schemas and streams cost several times what such a call costs otherwise (docs/decisions/0014).
 * What is decided on this way is decided by the functions that decide it on the other; whatever is not usual, and every
 * refusal, goes the other way, body and all. A test sends requests both ways, and finds no difference.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { GatewayError } from "@sluice/core"
import { jsonIn } from "@sluice/core/client"
import { Cause, Clock, Context, Effect, Exit, Fiber, identity, Layer, Predicate } from "effect"
import { refusalOf } from "../../accounts/Admission.ts"
import { mayUse } from "../../accounts/Caller.ts"
import { limitsOf } from "../../accounts/KeyLimits.ts"
import { keyOf, type SpendingKey } from "../../accounts/KeyStep.ts"
import { hashSecret } from "../../accounts/Secret.ts"
import { ServerConfig } from "../../config/ServerConfig.ts"
import { isOurHost } from "../../network/Hosts.ts"
import { shuttingDown } from "../../http/HttpErrors.ts"
import { refuse, type Take } from "../../http/PatientServer.ts"
import { requestIdOf } from "../../http/RequestId.ts"
import { TakeFirst } from "../../Listen.ts"
import { Charges } from "../../billing/Charges.ts"
import { type Charge, Ledger, type Reservation } from "../../billing/Ledger.ts"
import { Prices } from "../../billing/Prices.ts"
import { purchaseOf, type Quote, quoteOf, settlementOf, usedBy } from "../../billing/CostEstimate.ts"
import type { RateState } from "../../billing/RateWindow.ts"
import { valueOf } from "../../billing/ReportedUsage.ts"
import { GONE, noteBegin, tellRequest } from "../../operation/Observed.ts"
import { countLaned, countRequestIn } from "../../operation/RequestMetrics.ts"
import type { RequestRecord } from "../../http/RequestRecord.ts"
import { Shutdown } from "../../operation/Shutdown.ts"
import { beginOf, failover } from "../../routing/Failover.ts"
import type { Begin, Call, Operation } from "../../routing/Provider.ts"
import { candidatesOf, Providers } from "../../routing/Providers.ts"
import { isWellNamed } from "../FieldNames.ts"
import { makeBusyPoll } from "./BusyPoll.ts"
import type { LaneCall } from "./LaneCall.ts"
import { wholeAnswerOf, writeAnswer } from "./LaneAnswer.ts"
import { makeUnderWay } from "./UnderWay.ts"
import { usualHead } from "./UsualHead.ts"
import { wholeBody } from "./WholeBody.ts"

/** Keys that are remembered at most. */
const KEYS = 10_000

type Named = { readonly model: string }

/** A request that was taken, and not answered yet. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Gives it to the other way. */
  readonly pass: () => void
  readonly call: LaneCall
  readonly id: string
  readonly started: number
}

/** Who asks to be let in, and whose key it turned out to be. */
interface Order {
  readonly hash: string
  readonly address: string
  readonly now: number
  found: SpendingKey | undefined
}

/** A call that is paid for. */
interface Paid {
  readonly exchange: Exchange
  readonly named: Named
  readonly key: SpendingKey
  readonly quote: Quote
  readonly charge: Charge
  readonly rate: RateState | undefined
}

/** Begins a call, tells once how it ended, and gives what ends it before. */
type Start = (hear: (exit: Exit.Exit<unknown, GatewayError>) => void) => Effect.Effect<unknown>

const fieldsIn = (text: string): Readonly<Record<string, unknown>> => {
  const value = jsonIn(text)
  return Predicate.isObject(value) ? value : {}
}

/** Takes what is usual. Not where the database is elsewhere, nor where traces are wanted, which are the other way's. */
export const LaneLayer = Layer.effectDiscard(
  Effect.gen(function* () {
    const { host, money, operation } = yield* ServerConfig
    const { direct } = yield* Ledger
    if (direct === undefined || operation.traces !== undefined) return
    const { early } = yield* Charges
    const prices = yield* Prices
    const providers = yield* Providers
    const { hasBegun } = yield* Shutdown
    const takeFirst = yield* TakeFirst
    const context = yield* Effect.context<never>()
    const clock = Context.get(context, Clock.Clock)
    const fork = Effect.runForkWith(context)
    const calls = makeUnderWay<Effect.Effect<unknown>>()
    const busyPoll = makeBusyPoll()

    const tell = ({ id, request, started }: Exchange, status: number, record: RequestRecord) => {
      const ms = clock.currentTimeMillisUnsafe() - started
      const answered = { ...record, method: "POST", route: request.url ?? "", status, ms }
      countRequestIn(context, answered)
      if (operation.logRequests) fork(tellRequest(id, answered))
    }

    const keys = new Map<string, SpendingKey>()
    let version = -1
    /** Asked for again after each statement of others, so that it is what the accounts say now. */
    const heldKey = function* (hash: string) {
      if (direct.version() !== version || keys.size > KEYS) keys.clear()
      version = direct.version()
      const key = keys.get(hash) ?? (yield* keyOf(hash))
      if (key !== undefined) keys.set(hash, key)
      return key
    }

    // Both are made once: V8 makes a type for each generator function, in old memory, and what one that was made for a
    // call had around it stayed there with it (a collection of young memory took 10 ms instead of 1).
    const look = function* (order: Order) {
      order.found = yield* heldKey(order.hash)
      return undefined
    }
    const purchaseBy = (
      key: SpendingKey | undefined,
      order: Order,
      model: string,
      meter: LaneCall["meter"],
      quote: Quote
    ) => {
      if (key === undefined || refusalOf(key, order.now, order.address) !== undefined) return undefined
      if (!mayUse({ models: key.models ?? undefined }, model)) return undefined
      order.found = key
      const buyer = { user: key.user_id, key: Number(key.id), limits: limitsOf(key, money) }
      return purchaseOf(quote, meter, model, buyer)
    }
    const purchase = function* (order: Order, model: string, meter: LaneCall["meter"], quote: Quote) {
      return purchaseBy(yield* heldKey(order.hash), order, model, meter, quote)
    }
    /** The key as the accounts have it now, where that is known. */
    const remembered = (hash: string) => (direct.version() === version ? keys.get(hash) : undefined)

    const recordOf = ({ key, named }: Paid): RequestRecord => ({
      user: key.user_id,
      key: String(key.id),
      model: named.model
    })

    /** Nobody waits for an answer any more, and pays for the question; or the server ends, and tells those who do. */
    const brokenOff = (paid: Paid) => {
      const { charge, exchange, named, quote } = paid
      if (!exchange.response.destroyed) {
        early.end(charge, undefined)
        refuse([exchange.request, exchange.response], 503, shuttingDown)
        return tell(exchange, 503, recordOf(paid))
      }
      const settlement = settlementOf(quote, exchange.call.meter.counted(named, quote.beyond))
      early.end(charge, settlement)
      const { inputTokens, outputTokens } = settlement
      tell(exchange, GONE, { ...recordOf(paid), inputTokens, outputTokens })
    }

    /** The other way goes on with what came of the call, and answers it. */
    const goOn = (paid: Paid, answer: Exit.Exit<unknown, GatewayError>) => {
      const { charge, exchange, rate } = paid
      const { pass, request, response } = exchange
      if (response.destroyed) {
        early.end(charge, undefined)
        return tell(exchange, GONE, recordOf(paid))
      }
      early.goOn(request, { charge, rate, answer })
      response.once("close", () => {
        if (early.takeBack(request) !== undefined) early.end(charge, undefined)
      })
      pass()
    }

    const end = (paid: Paid, exit: Exit.Exit<unknown, GatewayError>) => {
      const { charge, exchange, named, quote, rate } = paid
      const { call, id, request, response } = exchange
      if (Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)) return brokenOff(paid)
      const answer = Exit.isSuccess(exit) ? wholeAnswerOf(exit.value) : undefined
      if (answer === undefined) return goOn(paid, exit)
      const value = Exit.isSuccess(exit) ? valueOf(exit.value) : undefined
      const settlement = settlementOf(
        quote,
        usedBy(value, quote, () => call.meter.counted(named, quote.beyond))
      )
      early.settle(charge, settlement, () => {
        writeAnswer(response, answer, { id, rate, closes: hasBegun() })
        request.resume()
        countLaned(context)
        const { inputTokens, outputTokens } = settlement
        tell(exchange, 200, { ...recordOf(paid), inputTokens, outputTokens })
      })
    }

    const running =
      (operate: Effect.Effect<unknown, GatewayError>): Start =>
      (hear) => {
        const fiber = fork(operate)
        fiber.addObserver(hear)
        return Fiber.interrupt(fiber)
      }
    /** Without a fiber for as long as that does. */
    const beginning =
      (begin: Begin, asked: Call<Named>, otherwise: Start): Start =>
      (hear) => {
        let stop: Effect.Effect<unknown> | undefined
        const leave = begin(asked, context, (outcome) => {
          if (Effect.isEffect(outcome)) stop = running(outcome)(hear)
          else hear(Exit.succeed(outcome))
        })
        if (leave === undefined) return otherwise(hear)
        const left = Effect.sync(() => {
          leave()
          hear(Exit.interrupt())
        })
        return Effect.suspend(() => stop ?? left)
      }

    const make = (paid: Paid, start: Start) => {
      const { charge, exchange } = paid
      const { response } = exchange
      if (response.destroyed) {
        early.end(charge, undefined)
        return tell(exchange, GONE, recordOf(paid))
      }
      early.begun(charge)
      let stop: Effect.Effect<unknown> = Effect.void
      const ended = calls.add(Effect.suspend(() => stop))
      const gone = () => void fork(stop)
      response.once("close", gone)
      const answered = busyPoll.begin()
      stop = start((exit) => {
        answered()
        ended()
        response.off("close", gone)
        end(paid, exit)
      })
    }

    /** Whether a key may be used now and from here; as it is remembered, or asked for. */
    const check = (hash: string, address: string, hear: (key: SpendingKey | undefined) => void) => {
      const now = clock.currentTimeMillisUnsafe()
      const usable = (key: SpendingKey | undefined) =>
        key !== undefined && refusalOf(key, now, address) === undefined ? key : undefined
      const known = remembered(hash)
      if (known !== undefined) return hear(usable(known))
      const order: Order = { hash, address, now, found: undefined }
      direct.enter(
        () => look(order),
        now,
        () => hear(usable(order.found))
      )
    }

    const reserve = (exchange: Exchange, hash: string, text: string) => {
      const { call, id, pass, request, response } = exchange
      const { meter } = call
      const fields = fieldsIn(text)
      const named = call.requestIn(fields, text)
      if (named === undefined || !isWellNamed(fields, text)) return pass()
      const [first, ...more] = candidatesOf(providers, meter.operation, call.pick, named.model)
      if (first === undefined || ![first, ...more].every(({ provider }) => provider.passesOn === true)) {
        return pass()
      }
      const quote = quoteOf(prices, meter, named, text)
      const now = clock.currentTimeMillisUnsafe()
      const order: Order = { hash, address: request.socket.remoteAddress ?? "", now, found: undefined }
      const hear = (reservation: Reservation | undefined) => {
        const { found } = order
        if (reservation?._tag !== "Reserved" || found === undefined) {
          return response.destroyed ? tell(exchange, GONE, {}) : pass()
        }
        const { charge, rate } = reservation
        const asked = { request: named, body: text, user: found.user_id, origin: "" }
        const operate = Effect.flatMap(
          failover(meter.operation, [first, ...more]),
          (operate: Operation<Named, unknown>) => operate(asked)
        )
        const paid: Paid = { exchange, named, key: found, quote, charge, rate }
        if (more.length > 0) return make(paid, running(Effect.annotateLogs(operate, "request", id)))
        const begin = beginOf(meter.operation, first.provider)
        make(paid, begin === undefined ? running(operate) : beginning(begin, asked, running(operate)))
      }
      const known = purchaseBy(remembered(hash), order, named.model, meter, quote)
      const covered = known && direct.reserve(known, now)
      if (covered !== undefined) return hear(covered)
      direct.enter(
        () => purchase(order, named.model, meter, quote),
        now,
        (exit) => hear(Exit.isSuccess(exit) ? exit.value : undefined)
      )
    }

    const take: Take = (request, response, pass) => {
      const head = usualHead(request)
      if (head === undefined || hasBegun()) return false
      if (!isOurHost(request.headers.host, host, operation.hosts)) return false
      if (operation.isTrustedProxy(request.socket.remoteAddress ?? "")) return false
      const { call, length } = head
      const hash = hashSecret(head.key)
      const id = requestIdOf(request.headers["x-request-id"])
      const started = clock.currentTimeMillisUnsafe()
      /** With its name and its time, so that the other way tells of it as of one that it had from the start. */
      const passAsItCame = () => {
        request.headers["x-request-id"] = id
        noteBegin(request, started)
        pass()
      }
      const exchange: Exchange = { request, response, pass: passAsItCame, call, id, started }
      // Of who may not call, no body is waited for.
      check(hash, request.socket.remoteAddress ?? "", (key) => {
        if (request.destroyed) return tell(exchange, GONE, {})
        if (key === undefined) return exchange.pass()
        wholeBody(request, length, (body) => {
          if (body === "gone") tell(exchange, GONE, { user: key.user_id, key: String(key.id) })
          else if (body === "no text") exchange.pass()
          else reserve(exchange, hash, body.text)
        })
      })
      return true
    }
    takeFirst(take)
    yield* Effect.addFinalizer(() => {
      takeFirst(undefined)
      return Effect.forEach(calls.all(), identity, { concurrency: "unbounded", discard: true })
    })
  })
)
