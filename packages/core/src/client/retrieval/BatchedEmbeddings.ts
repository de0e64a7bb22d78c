/** Merges the embedding calls of concurrent fibers into fewer requests. */
import { Context, Deferred, type Duration, Effect, Exit, Layer, Request, RequestResolver } from "effect"
import { GatewayError } from "../../contract/GatewayError.ts"
import { type Embeddings, type EmbeddingsCall, Gateway } from "../../gateway/Gateway.ts"
import { CurrentRetryPolicy } from "../../gateway/RetryPolicy.ts"
import { batchLimits, type BatchLimits, type OptionalLimits, partialFailure, textsOf } from "./Batches.ts"

export interface BatchedEmbeddingsOptions extends OptionalLimits {
  /** How long the first call waits for others. Default: 5 ms. */
  readonly window?: Duration.Input | undefined
}

/** Long enough for fibers started together, and short compared to a request. */
export const WINDOW: Duration.Input = "5 millis"

/**
 * A `Gateway` that merges concurrent embedding calls into one request.
 *
 * **When to use.** For many fibers that embed a text or two each, such as the questions of several users. A call that
 * passes all its texts at once gains nothing. Everything that uses `Gateway` benefits, also `GatewayEmbedder`.
 *
 * **Details.** Calls are merged if they differ only in `input`; their retry policies must be equal too. The first call
 * opens a window of 5 ms, which closes early at `texts` (96) or `bytes` (256 KiB). A call is never split: one that reaches
 * a limit alone is sent at once. Each caller gets its own vectors, and its share of the tokens by length; the shares add
 * up to the gateway's count. `extra` goes to all callers.
 *
 * A refusal of the merged request (`InvalidRequest`) may be caused by one caller's text: the callers are split in halves
 * until the cause is alone. Any other failure goes to all; a `PartialFailure` is divided among them.
 *
 * **Gotchas.** The request has the context (span, references) of the caller that opened the window. The request ends
 * early only if all its callers are interrupted.
 *
 * ```ts
 * const gateway = Layer.provide(BatchedEmbeddings.layer(), GatewayClient.layer({ baseUrl, apiKey }))
 * ```
 */
export const layer = (options: BatchedEmbeddingsOptions = {}): Layer.Layer<Gateway, never, Gateway> =>
  Layer.effect(
    Gateway,
    Effect.map(Gateway, (gateway) => {
      const { window = WINDOW } = options
      const limits = batchLimits(options)
      const grouped = RequestResolver.makeGrouped<EmbedRequest, unknown>({
        key: ({ context, request }) => {
          const { input: _, ...shared } = request.call
          return { ...shared, retry: Context.get(context, CurrentRetryPolicy) }
        },
        resolver: (entries) =>
          Effect.forEach(mergeEntries(entries, limits), (group) => sendGroup(group, gateway.embeddings), {
            concurrency: "unbounded",
            discard: true
          })
      }).pipe(RequestResolver.setDelay(window), RequestResolver.withSpan("BatchedEmbeddings.send"))
      const resolver = RequestResolver.makeWith({
        ...grouped,
        collectWhile: (entries) => isBelow(sizeOf(entries), limits)
      })
      return Gateway.of({
        ...gateway,
        embeddings: (call) =>
          Effect.suspend(() => {
            const texts = textsOf(call.input)
            const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
            const size = { texts: texts.length, bytes }
            if (size.texts === 0 || !isBelow(size, limits)) return gateway.embeddings(call)
            const interrupted = Deferred.makeUnsafe<void>()
            return Effect.onInterrupt(
              Effect.request(new EmbedRequest({ call, size, interrupted }), resolver),
              () => Deferred.succeed(interrupted, undefined)
            )
          })
      })
    })
  )

/** The call of one caller. */
class EmbedRequest extends Request.Class<
  {
    readonly call: EmbeddingsCall
    readonly size: BatchLimits
    /** Done when the caller is interrupted. */
    readonly interrupted: Deferred.Deferred<void>
  },
  Embeddings,
  GatewayError
> {}
type Entry = Request.Entry<EmbedRequest>

const sizeOf = (entries: Iterable<Entry>): BatchLimits => {
  let texts = 0
  let bytes = 0
  for (const { request } of entries) {
    texts += request.size.texts
    bytes += request.size.bytes
  }
  return { texts, bytes }
}

const isBelow = (size: BatchLimits, limits: BatchLimits): boolean =>
  size.texts < limits.texts && size.bytes < limits.bytes

/** Groups of callers, in their order, for as few requests as the limits allow. */
const mergeEntries = (
  entries: ReadonlyArray<Entry>,
  limits: BatchLimits
): ReadonlyArray<ReadonlyArray<Entry>> => {
  const groups: Array<Array<Entry>> = []
  for (const entry of entries) {
    const last = groups.at(-1)
    const size = sizeOf([...(last ?? []), entry])
    if (last !== undefined && size.texts <= limits.texts && size.bytes <= limits.bytes) last.push(entry)
    else groups.push([entry])
  }
  return groups
}

/** Sends one request for its callers, and completes each with its part. */
const sendGroup = (
  group: ReadonlyArray<Entry>,
  send: Gateway["Service"]["embeddings"]
): Effect.Effect<void> => {
  const [first] = group
  if (first === undefined) return Effect.void
  const input = group.flatMap(({ request }) => textsOf(request.call.input))
  const work = Effect.matchEffect(send({ ...first.request.call, input }), {
    onSuccess: (embeddings) => Effect.sync(() => completeAll(group, embeddings)),
    onFailure: (error) => {
      if (error.reason._tag !== "InvalidRequest" || group.length === 1) {
        return Effect.sync(() => failAll(group, error))
      }
      const middle = group.length >> 1
      const halves = [group.slice(0, middle), group.slice(middle)]
      return Effect.forEach(halves, (half) => sendGroup(half, send), { discard: true })
    }
  })
  const allInterrupted = Effect.forEach(group, ({ request }) => Deferred.await(request.interrupted), {
    discard: true
  })
  return Effect.raceFirst(work, allInterrupted)
}

const completeAll = (group: ReadonlyArray<Entry>, { tokens, vectors, ...rest }: Embeddings): void => {
  const total = weight(sizeOf(group))
  let start = 0
  let before = 0
  let shared = 0
  for (const entry of group) {
    const { size } = entry.request
    before += weight(size)
    // The cumulative share is rounded, so that the shares add up to `tokens`.
    const upTo = Math.round((tokens * before) / total)
    const own = { ...rest, vectors: vectors.slice(start, start + size.texts), tokens: upTo - shared }
    entry.completeUnsafe(Exit.succeed(own))
    start += size.texts
    shared = upTo
  }
}

/** Positive even for empty texts. */
const weight = ({ bytes, texts }: BatchLimits): number => bytes + texts

const failAll = (group: ReadonlyArray<Entry>, error: GatewayError): void => {
  let start = 0
  for (const entry of group) {
    const { texts } = entry.request.size
    entry.completeUnsafe(partOf(error, start, texts))
    start += texts
  }
}

/** One caller's part of a failure. Vectors of a `PartialFailure` stay with their caller; their tokens are unknown. */
const partOf = (error: GatewayError, start: number, texts: number): Exit.Exit<Embeddings, GatewayError> => {
  const { reason } = error
  if (reason._tag !== "PartialFailure") return Exit.fail(error)
  const isOwn = (position: number) => position >= start && position < start + texts
  const failed = reason.failed.filter(isOwn).map((position) => position - start)
  const kept = [...reason.kept]
    .filter(([position]) => isOwn(position))
    .map(([position, vector]) => [position - start, vector] as const)
  if (failed.length === 0) {
    const ordered = kept.toSorted(([a], [b]) => a - b)
    return Exit.succeed({ vectors: ordered.map(([, vector]) => vector), tokens: 0 })
  }
  if (kept.length === 0) return Exit.fail(new GatewayError({ ...error, reason: reason.first }))
  const partial = partialFailure({ failed, kept: new Map(kept), first: reason.first })
  return Exit.fail(new GatewayError({ ...error, reason: partial }))
}
