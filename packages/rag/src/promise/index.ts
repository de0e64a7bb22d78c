/**
 * A library for programs without Effect: promises, async iterables, and an `AbortSignal`.
 *
 * ```ts
 * const library = await openPromiseLibrary("./library", { models: Embedded.layer })
 * const { answer, citations } = await library.ask("How long do refunds take?", { signal: request.signal })
 * ```
 */
import type { Embedder } from "@sluice/core"
import { Cause, Data, Effect, Exit, Layer, ManagedRuntime, Predicate, Stream, Struct } from "effect"
import { RagError } from "../document/RagError.ts"
import type { DocumentRecord, SourceItem } from "../ingest/sources/Record.ts"
import type { IngestSource, Upload } from "../ingest/sources/Source.ts"
import { Library } from "../library/Library.ts"
import { streamOf } from "../library/LibrarySync.ts"
import type { LibraryOptions, LibraryService, ListOptions } from "../library/LibraryService.ts"
import type { StoreOptions } from "../store/lance/LanceIndex.ts"

/**
 * Ends a call when the signal aborts: its model calls are cancelled, and the promise is rejected with the signal's reason.
 */
export interface SignalOptions {
  readonly signal?: AbortSignal | undefined
}

/** What a source gives. `read` and `bytes` may be functions, which are called only if the `version` is new. */
export type PromiseItem =
  | DocumentRecord
  | { readonly removed: string }
  | (Omit<Upload, "bytes"> & { readonly bytes: Uint8Array | (() => Promise<Uint8Array>) })
  | {
      readonly id: string
      readonly version?: string
      readonly read: () => Promise<Omit<DocumentRecord, "id">>
    }

/** The models and the options of a library. */
export interface OpenOptions<E> extends LibraryOptions, StoreOptions {
  /** An embedder, and for questions a reranker and a reader: such as `layer` of `@sluice/embedded`. */
  readonly models: Layer.Layer<Embedder, E>
}

/** A failure of what the program gave. The call is rejected with its cause. */
class GivenFailure extends Data.TaggedError("GivenFailure")<{
  readonly cause: unknown
  readonly message: string
}> {}

const givenFailure = (cause: unknown) =>
  new GivenFailure({ cause, message: cause instanceof Error ? cause.message : String(cause) })

const later = <A>(call: () => Promise<A>) => Effect.tryPromise({ try: call, catch: givenFailure })

const toItem = (item: PromiseItem): SourceItem<GivenFailure> => {
  if (!Predicate.isObject(item)) return item
  if ("read" in item) return { ...item, read: later(item.read) }
  if (!("bytes" in item)) return item
  const { bytes, ...rest } = item
  return { ...rest, bytes: typeof bytes === "function" ? later(bytes) : bytes }
}

/** A failure of the iterable is the stream's. */
const toStream = <A>(items: Iterable<A> | AsyncIterable<A>): Stream.Stream<A, GivenFailure | RagError> =>
  Predicate.hasProperty(items, Symbol.asyncIterator)
    ? Stream.fromAsyncIterable(items, givenFailure)
    : streamOf(items)

/** The library checks the rest. */
const withoutSignal = <A extends SignalOptions>(options: A | undefined) =>
  (Predicate.isObject(options) ? Struct.omit(options, ["signal"]) : options) as Omit<A, "signal">

const malformed = (message: string) => new RagError({ stage: "open", reason: "Malformed", message })

/** Opens a library. `close` it at the end, or declare it with `await using`. Rejects with a `RagError`, as all calls do. */
export const openPromiseLibrary = async <E>(folder: string, given: OpenOptions<E>) => {
  const { models, ...options } = given ?? {}
  const isLayer: boolean = Layer.isLayer(models)
  if (!isLayer)
    throw malformed(
      "`models` is missing. Pass a layer with an embedder, such as `layer` of `@sluice/embedded`."
    )
  const runtime = ManagedRuntime.make(Layer.provide(Library.layer(folder, options), models))

  let isClosed = false
  const checkOpen = (signal: AbortSignal | undefined) => {
    if (signal && !Predicate.hasProperty(signal, "throwIfAborted"))
      throw malformed("`signal` is not an AbortSignal.")
    signal?.throwIfAborted()
    if (isClosed) throw malformed("The library is closed. Open it again, or close it later.")
  }
  const settle = async <A, E>(effect: Effect.Effect<A, E, Library>, call?: SignalOptions): Promise<A> => {
    const signal = call?.signal
    checkOpen(signal)
    const exit = await runtime.runPromiseExit(effect, signal && { signal })
    if (Exit.isSuccess(exit)) return exit.value
    signal?.throwIfAborted()
    const error = Cause.squash(exit.cause)
    throw error instanceof GivenFailure ? error.cause : error
  }
  const library: LibraryService = await settle(Library).catch(async (error: unknown) => {
    await runtime.dispose()
    throw error
  })

  async function* iterate<A, E>(stream: Stream.Stream<A, E>, call?: SignalOptions): AsyncGenerator<A, void> {
    const signal = call?.signal
    checkOpen(signal)
    const iterator = Stream.toAsyncIterable(stream)[Symbol.asyncIterator]()
    const { promise: aborted, reject } = Promise.withResolvers<never>()
    aborted.catch(() => undefined)
    const abort = () => reject(signal?.reason)
    signal?.addEventListener("abort", abort)
    try {
      for (;;) {
        const next = await Promise.race([iterator.next(), aborted])
        if (next.done === true) return
        yield next.value
      }
    } finally {
      signal?.removeEventListener("abort", abort)
      await iterator.return?.()
    }
  }

  type Options<K extends "ask" | "retrieve"> = NonNullable<Parameters<LibraryService[K]>[1]> & SignalOptions
  const close = () => {
    isClosed = true
    return runtime.dispose()
  }
  return {
    ingest: (source: IngestSource<never>, call?: SignalOptions) => settle(library.ingest(source), call),
    ingestEvents: (source: IngestSource<never>, call?: SignalOptions) =>
      iterate(library.ingestEvents(source), call),
    upsert: (records: Iterable<PromiseItem> | AsyncIterable<PromiseItem>, call?: SignalOptions) =>
      settle(library.upsert(Stream.map(toStream(records), toItem)), call),
    sync: (
      source: string,
      items: Iterable<PromiseItem> | AsyncIterable<PromiseItem>,
      options?: SignalOptions & { readonly partial?: boolean }
    ) => settle(library.sync(source, Stream.map(toStream(items), toItem), options ?? {}), options),
    ask: (question: string, options?: Options<"ask">) =>
      settle(library.ask(question, withoutSignal(options)), options),
    askEvents: (question: string, options?: Options<"ask">) =>
      iterate(library.askEvents(question, withoutSignal(options)), options),
    retrieve: (question: string, options?: Options<"retrieve">) =>
      settle(library.retrieve(question, withoutSignal(options)), options),
    list: (options?: ListOptions & SignalOptions) => settle(library.list(withoutSignal(options)), options),
    info: (id: string, call?: SignalOptions) => settle(library.info(id), call),
    passages: (id: string, call?: SignalOptions) => settle(library.passages(id), call),
    file: (id: string, call?: SignalOptions) => settle(library.file(id), call),
    remove: (id: string, call?: SignalOptions) => settle(library.remove(id), call),
    removeWhere: (filter: Parameters<LibraryService["removeWhere"]>[0], call?: SignalOptions) =>
      settle(library.removeWhere(filter), call),
    stats: (call?: SignalOptions) => settle(library.stats, call),
    maintain: (call?: SignalOptions) => settle(library.maintain, call),
    rebuild: (call?: SignalOptions) => iterate(library.rebuild, call),
    /** The same library for Effect: all methods. */
    effect: library,
    /** Ends running calls, and closes the files. */
    close,
    [Symbol.asyncDispose]: close
  }
}

export type PromiseLibrary = Awaited<ReturnType<typeof openPromiseLibrary>>
