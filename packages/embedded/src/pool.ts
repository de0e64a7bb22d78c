/** Runs the models' large calls in the pool of threads. */
import { GatewayError, InvalidRequest, ServerFailure } from "@sluice/core"
import { moduleBeside, runInWorker, type WorkerOutput } from "@sluice/core/workers"
import { Effect } from "effect"
import type * as modelJobs from "./modelJobs.ts"

/**
 * Calls of at most this many characters run in the calling thread: 20 passages are reranked in 3 ms, and 5 are read in as
 * many. A thread of the pool takes .2 ms more, and 200 if it has to start.
 */
const MAX_INLINE = 50_000
/** Characters of a query or question of such a call: reading takes time for each of its words and each of the text's. */
const MAX_INLINE_QUERY = 500

/** What a text takes besides its characters, in characters. */
const TEXT_OVERHEAD = 200

const sizeOf = (texts: ReadonlyArray<string>): number =>
  texts.reduce((sum, { length }) => sum + length + TEXT_OVERHEAD, 0)

const module = moduleBeside(import.meta.url, "./modelJobs")

/** A call of a model: a job of `modelJobs.ts` by its name and as a function. */
export const runModel = <Input, A>(call: {
  readonly operation: string
  readonly model: string
  readonly job: keyof typeof modelJobs
  readonly run: (input: Input) => WorkerOutput<A>
  readonly input: Input
  readonly texts: ReadonlyArray<string>
  /** How long a character takes, in the time that one takes to be embedded or reranked. */
  readonly cost?: number
  readonly query?: string
}): Effect.Effect<A, GatewayError> => {
  const { cost = 1, input, job, model, operation, query = "", run, texts } = call
  if (query.length <= MAX_INLINE_QUERY && cost * sizeOf(texts) <= MAX_INLINE)
    return Effect.sync(() => run(input).value)
  return Effect.mapError(runInWorker<A>({ module, job, input }), ({ message, reason }) => {
    const isLimit = reason === "time" || reason === "memory"
    const limit = new InvalidRequest({ message: `The call ${message}. Send fewer or shorter texts` })
    const failure = new ServerFailure({ status: 500, message: `The thread of the model ${message}` })
    return new GatewayError({ operation, model, reason: isLimit ? limit : failure })
  })
}
