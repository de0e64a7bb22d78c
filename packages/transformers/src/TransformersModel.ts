/** A model and its tokenizer from `@huggingface/transformers`, loaded on first use. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect, type Scope, Semaphore } from "effect"
import type { Tensor } from "./Pooling.ts"

/** The model and its source. */
export interface TransformersModelOptions {
  /** A folder with `config.json`, `tokenizer.json` and `onnx/`, or the identifier of a model on the hub. */
  readonly model: string
  /** The name in manifests and traces. Default: the identifier, or the folder's name. */
  readonly name?: string
  /** Branch, tag or commit of a model on the hub. */
  readonly revision?: string
  /** The file in `onnx/`: `fp32` is `model.onnx`, `q8` is `model_quantized.onnx` … Default `fp32`. */
  readonly dtype?: "fp32" | "fp16" | "q8" | "q4" | "q4f16" | "int8" | "uint8" | "bnb4"
  /** True to download a model from the hub. Default false. */
  readonly download?: boolean
  /** Texts are truncated to this many tokens. Default: the tokenizer's limit, or 512. */
  readonly maxTokens?: number
  /** Loads the library. Default `import("@huggingface/transformers")`. */
  readonly library?: () => Promise<unknown>
}

type Tokenizer = {
  (texts: ReadonlyArray<string>, options: object): Readonly<Record<string, Tensor>>
  readonly model_max_length?: number | null
}

type Model = {
  (inputs: object): Promise<Readonly<Record<string, Tensor>>>
  readonly dispose: () => Promise<unknown>
}

type Pretrained<A> = { readonly from_pretrained: (model: string, options: object) => Promise<A> }

/** The used part of the library. */
interface Library {
  readonly AutoTokenizer: Pretrained<Tokenizer>
  readonly AutoModel: Pretrained<Model>
  readonly AutoModelForSequenceClassification: Pretrained<Model>
}

/** One call of the model. */
export interface ModelRun {
  readonly inputs: Readonly<Record<string, Tensor>>
  readonly outputs: Readonly<Record<string, Tensor>>
}

const MAX_TOKENS = 512

/** The name in manifests, with every setting that changes the results. */
export const modelName = ({ dtype, maxTokens, model, name, revision }: TransformersModelOptions): string =>
  [
    name ?? (isFolder(model) ? (model.split(/[\\/]/).findLast((part) => part !== "") ?? model) : model),
    revision === undefined ? "" : `@${revision}`,
    dtype === undefined || dtype === "fp32" ? "" : ` ${dtype}`,
    maxTokens === undefined ? "" : ` ${maxTokens} tokens`
  ].join("")

/** The number of tokens to truncate to. Tokenizers without a limit give none, or a number of thirty digits. */
export const tokenLimit = (wanted: number | undefined, tokenizerLimit: number | null | undefined): number => {
  const most = tokenizerLimit ?? Number.POSITIVE_INFINITY
  return Math.min(wanted ?? (most > 1_000_000 ? MAX_TOKENS : most), most)
}

const isFolder = (model: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/])/.test(model)

/**
 * Runs the model on texts, one call at a time. It is loaded by the first call and released with the scope.
 *
 * Fails with `InvalidRequest` if the library is not installed or the model is missing.
 */
export const makeTransformersModel = Effect.fn("TransformersModel.make")(function* (
  options: TransformersModelOptions,
  operation: "embeddings" | "rerank"
): Effect.fn.Return<
  (texts: ReadonlyArray<string>, pairs?: ReadonlyArray<string>) => Effect.Effect<ModelRun, GatewayError>,
  never,
  Scope.Scope
> {
  const mutex = yield* Semaphore.make(1)
  let loaded: { readonly tokenizer: Tokenizer; readonly model: Model } | undefined
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      await loaded?.model.dispose()
      loaded = undefined
    })
  )
  const invalidRequest = (message: string) =>
    new GatewayError({ operation, model: modelName(options), reason: new InvalidRequest({ message }) })

  const load = Effect.gen(function* () {
    if (loaded !== undefined) return loaded
    const library = yield* Effect.tryPromise({
      try: async () => checkLibrary(await (options.library ?? (() => import("@huggingface/transformers")))()),
      catch: (cause) =>
        invalidRequest(
          `A neural model in this process needs the package @huggingface/transformers (474 MB): npm install @huggingface/transformers. ${messageOf(cause)}`
        )
    })
    const settings = {
      local_files_only: options.download !== true,
      dtype: options.dtype ?? "fp32",
      ...(options.revision === undefined ? {} : { revision: options.revision })
    }
    const kind = operation === "rerank" ? library.AutoModelForSequenceClassification : library.AutoModel
    loaded = yield* Effect.tryPromise({
      try: async () => ({
        tokenizer: await library.AutoTokenizer.from_pretrained(options.model, settings),
        model: await kind.from_pretrained(options.model, settings)
      }),
      catch: (cause) =>
        invalidRequest(
          `The model cannot be loaded: ${messageOf(cause)} Give a folder with config.json, tokenizer.json and onnx/model.onnx, or the identifier of a model on the hub with \`download: true\`.`
        )
    })
    return loaded
  })

  return (texts, pairs) =>
    Effect.gen(function* () {
      const { model, tokenizer } = yield* load
      return yield* Effect.tryPromise({
        try: async (): Promise<ModelRun> => {
          const inputs = tokenizer(texts, {
            padding: true,
            truncation: true,
            max_length: tokenLimit(options.maxTokens, tokenizer.model_max_length),
            ...(pairs === undefined ? {} : { text_pair: pairs })
          })
          return { inputs, outputs: await model(inputs) }
        },
        catch: (cause) => invalidRequest(`The model failed: ${messageOf(cause)}`)
      })
    }).pipe(mutex.withPermit)
})

const checkLibrary = (library: unknown): Library => {
  const found = library as Partial<Library>
  if (typeof found.AutoTokenizer?.from_pretrained !== "function")
    throw new Error("The installed package of that name is another one.")
  return found as Library
}

const messageOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const first = (text.split("\n")[0] ?? text).slice(0, 300)
  return /[.!?]$/.test(first) ? first : `${first}.`
}
