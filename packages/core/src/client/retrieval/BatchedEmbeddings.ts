/** Embedding calls of concurrent fibers, merged into one request. */
import { Context, Deferred, type Duration, Effect, Exit, Layer, Request, RequestResolver } from "effect"
import { type Embeddings, type EmbeddingsCall, Gateway } from "../../gateway/Gateway.ts"
import { GatewayError } from "../../contract/GatewayError.ts"
import { CurrentRetryPolicy } from "../../gateway/RetryPolicy.ts"
import { BATCH, type BatchLimits } from "./Batches.ts"
import { partialFailure } from "./PartialFailures.ts"

export interface BatchedEmbeddingsOptions extends Partial<BatchLimits> {
  /** How long the first call waits for others; `WINDOW` when not given. */
  readonly window?: Duration.Input
}

/** Enough for fibers that were started together; little beside the time of a request. */
export const WINDOW: Duration.Input = "5 millis"

/**
 * A `Gateway` whose embedding calls wait a moment for each other and go out together.
 *
 * **When to use.** Where many fibers embed a text or two each: questions of several users, one call a record. A call
 * that brings all its texts at once gains nothing. Everything over `Gateway` is served, `GatewayEmbedder` included.
 *
 * **Details.** Calls are merged when all but their `input` is equal, retry policies included. The first one opens a
 * window of 5 ms; it closes early when `texts` (96) or `bytes` (256 KiB) are reached. A call is never divided: one that
 * alone reaches a limit goes at once, as it is. Each caller gets its own vectors in its own order, and its share, by
 * length, of the tokens: the shares add up to what the gateway counted. What else the answer said (`extra`) goes to all.
 *
 * A refusal of the merged request (`InvalidRequest`) may be the fault of one caller's text: its callers are then asked
 * for in halves, until the fault is alone. Any other failure is that of all; `PartialFailure` is divided among them.
 *
 * **Gotchas.** The request has the context (span, references) of the caller that opened the window. A caller that is
 * interrupted leaves the others alone; the request ends early only when none is left.
 *
 * ```ts
 * const gateway = Layer.provide(BatchedEmbeddings.layer(), GatewayClient.layer({ baseUrl, apiKey }))
 * ```
 */
export const layer = (options: BatchedEmbeddingsOptions = {}): Layer.Layer<Gateway, never, Gateway> =>
  Layer.effect(
    Gateway,
    Effect.map(Gateway, (gateway) => {
      const { window = WINDOW, ...given } = options
      const limits = { ...BATCH, ...given }
      const grouped = RequestResolver.makeGrouped<Waiting, unknown>({
        key: ({ context, request }) => {
          const { input: _, ...shared } = request.call
          return { ...shared, retry: Context.get(context, CurrentRetryPolicy) }
        },
        resolver: (entries) =>
          Effect.forEach(packs(entries, limits), (pack) => answer(pack, gateway.embeddings), {
            concurrency: "unbounded",
            discard: true
          })
      }).pipe(RequestResolver.setDelay(window), RequestResolver.withSpan("BatchedEmbeddings.send"))
      const resolver = RequestResolver.makeWith({
        ...grouped,
        collectWhile: (entries) => within(sizeOf(entries), limits)
      })
      return Gateway.of({
        ...gateway,
        embeddings: (call) =>
          Effect.suspend(() => {
            const size = { texts: call.input.length, bytes: bytesOf(call.input) }
            if (size.texts === 0 || !within(size, limits)) return gateway.embeddings(call)
            const gone = Deferred.makeUnsafe<void>()
            return Effect.onInterrupt(Effect.request(new Waiting({ call, size, gone }), resolver), () =>
              Deferred.succeed(gone, undefined)
            )
          })
      })
    })
  )

/** One caller. */
class Waiting extends Request.Class<
  {
    readonly call: EmbeddingsCall
    readonly size: BatchLimits
    /** Done when the caller was interrupted. */
    readonly gone: Deferred.Deferred<void>
  },
  Embeddings,
  GatewayError
> {}
type Entry = Request.Entry<Waiting>
type Send = Gateway["Service"]["embeddings"]

const bytesOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)

const sizeOf = (entries: Iterable<Entry>): BatchLimits => {
  let texts = 0
  let bytes = 0
  for (const { request } of entries) {
    texts += request.size.texts
    bytes += request.size.bytes
  }
  return { texts, bytes }
}

const within = (size: BatchLimits, limits: BatchLimits): boolean =>
  size.texts < limits.texts && size.bytes < limits.bytes

/** Whole callers in the order they came, as few requests as the limits allow. */
const packs = (entries: ReadonlyArray<Entry>, limits: BatchLimits): ReadonlyArray<ReadonlyArray<Entry>> => {
  const result: Array<Array<Entry>> = []
  for (const entry of entries) {
    const last = result.at(-1)
    const size = sizeOf([...(last ?? []), entry])
    if (last !== undefined && size.texts <= limits.texts && size.bytes <= limits.bytes) last.push(entry)
    else result.push([entry])
  }
  return result
}

/** Sends one request for its callers, and gives each what is its own. */
const answer = (pack: ReadonlyArray<Entry>, send: Send): Effect.Effect<void> => {
  const [first] = pack
  if (first === undefined) return Effect.void
  const input = pack.flatMap(({ request }) => request.call.input)
  const work = Effect.matchEffect(send({ ...first.request.call, input }), {
    onSuccess: (embeddings) => Effect.sync(() => share(pack, embeddings)),
    onFailure: (error) => {
      if (error.reason._tag !== "InvalidRequest" || pack.length === 1) {
        return Effect.sync(() => blame(pack, error))
      }
      const middle = pack.length >> 1
      const halves = [pack.slice(0, middle), pack.slice(middle)]
      return Effect.forEach(halves, (half) => answer(half, send), { discard: true })
    }
  })
  const nobody = Effect.forEach(pack, ({ request }) => Deferred.await(request.gone), { discard: true })
  return Effect.raceFirst(work, nobody)
}

const share = (pack: ReadonlyArray<Entry>, { tokens, vectors, ...rest }: Embeddings): void => {
  const whole = weight(sizeOf(pack))
  let start = 0
  let before = 0
  let shared = 0
  for (const entry of pack) {
    const { size } = entry.request
    before += weight(size)
    // What was shared so far is rounded, not each share: so nothing is lost.
    const upTo = Math.round((tokens * before) / whole)
    const own = { ...rest, vectors: vectors.slice(start, start + size.texts), tokens: upTo - shared }
    entry.completeUnsafe(Exit.succeed(own))
    start += size.texts
    shared = upTo
  }
}

/** Never 0, whatever the texts. */
const weight = ({ bytes, texts }: BatchLimits): number => bytes + texts

/** Texts of a caller that have a vector all the same stay theirs. Their tokens are not known. */
const blame = (pack: ReadonlyArray<Entry>, error: GatewayError): void => {
  let start = 0
  for (const entry of pack) {
    entry.completeUnsafe(portion(error, start, entry.request.size.texts))
    start += entry.request.size.texts
  }
}

const portion = (error: GatewayError, start: number, texts: number): Exit.Exit<Embeddings, GatewayError> => {
  const { reason } = error
  if (reason._tag !== "PartialFailure") return Exit.fail(error)
  const own = <A>(position: number, value: A): ReadonlyArray<A> =>
    position >= start && position < start + texts ? [value] : []
  const failed = reason.failed.flatMap((position) => own(position, position - start))
  const kept = [...reason.kept].flatMap(([position, vector]) =>
    own(position, [position - start, vector] as const)
  )
  if (failed.length === 0) {
    const ordered = kept.toSorted(([a], [b]) => a - b)
    return Exit.succeed({ vectors: ordered.map(([, vector]) => vector), tokens: 0 })
  }
  if (kept.length === 0) return Exit.fail(new GatewayError({ ...error, reason: reason.first }))
  const partial = partialFailure({ failed, kept: new Map(kept), first: reason.first })
  return Exit.fail(new GatewayError({ ...error, reason: partial }))
}
