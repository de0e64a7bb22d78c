/** A model in a thread of its own: the runtime computes on the thread that calls it, which would stop the event loop. */
import { GatewayError, type GatewayReason, InvalidResponse, ServerFailure } from "@sluice/core"
import { makeOwnThread, moduleBeside } from "@sluice/core/workers"
import { Effect } from "effect"
import { isFolder, type ModelFault, type TransformersModelOptions } from "./ModelJobs.ts"

const module = moduleBeside(import.meta.url, "./ModelJobs")

/** Loading half a GiB of weights, or a batch on a slow machine. */
const JOB_MILLISECONDS = 300_000

/**
 * Texts of one job, and their characters with what fills the shorter ones up to the longest: about four of 512 tokens. Larger
 * batches of long texts are not faster (decision 22), and take more memory.
 */
const TEXTS_PER_JOB = 16
const CHARACTERS_PER_JOB = 8_192

/** The name in manifests, with every setting that changes the results. */
export const modelName = ({ dtype, maxTokens, model, name, revision }: TransformersModelOptions): string =>
  [
    name ?? (isFolder(model) ? (model.split(/[\\/]/).findLast((part) => part !== "") ?? model) : model),
    revision === undefined ? "" : `@${revision}`,
    dtype === undefined || dtype === "fp32" ? "" : ` ${dtype}`,
    maxTokens === undefined ? "" : ` ${maxTokens} tokens`
  ].join("")

/**
 * The indices of texts in batches of similar length, so that little is filled up. The batches of the same texts in another
 * order are the same. Blank texts are in none.
 */
export const batchesByLength = (texts: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<number>> => {
  const batches: Array<Array<number>> = []
  const order = [...texts.keys()]
    .filter((i) => texts[i]!.trim() !== "")
    .toSorted((a, b) => texts[a]!.length - texts[b]!.length || (texts[a]! < texts[b]! ? -1 : 1))
  for (const i of order) {
    const last = batches.at(-1)
    const fits =
      last !== undefined &&
      last.length < TEXTS_PER_JOB &&
      (last.length + 1) * texts[i]!.length <= CHARACTERS_PER_JOB
    if (fits) last.push(i)
    else batches.push([i])
  }
  return batches
}

/** The model cannot be loaded or run. The caller's request is not at fault, and repeating it does not help. */
export const modelUnavailable = (message: string): ServerFailure =>
  new ServerFailure({ status: 503, message, final: true })

/** Runs jobs on the model. Its thread starts with the first job and ends with the scope. */
export const makeModelThread = Effect.fn("TransformersModel.make")(function* (
  options: TransformersModelOptions,
  operation: "embeddings" | "rerank" | "chat"
) {
  const run = yield* makeOwnThread
  const failure = (reason: GatewayReason) =>
    new GatewayError({ operation, model: modelName(options), reason })
  return <A extends object>(
    job: "vectorsJob" | "scoresJob" | "entailmentJob" | "sentencesJob",
    input: object
  ): Effect.Effect<A, GatewayError> =>
    run<A | ModelFault>({ module, job, input: { options, ...input }, limit: JOB_MILLISECONDS }).pipe(
      Effect.mapError(({ message }) =>
        failure(new ServerFailure({ status: 500, message: `The thread of the model ${message}` }))
      ),
      Effect.flatMap((result) => {
        if (!("fault" in result)) return Effect.succeed(result)
        const { fault, message } = result
        return Effect.fail(
          failure(fault === "model" ? modelUnavailable(message) : new InvalidResponse({ message }))
        )
      })
    )
})
