/** A model and its tokenizer, loaded from `@huggingface/transformers` when they are first needed. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect, type Scope, Semaphore } from "effect"
import type { Tensor } from "./Pooling.ts"

/** Which model, and where it comes from. */
export interface TransformersModelOptions {
  /** A folder that holds `config.json`, `tokenizer.json` and `onnx/`, or the identifier of a model of the hub. */
  readonly model: string
  /** What it is called in manifests and traces. Default: the identifier, or the folder's last part. */
  readonly name?: string
  /** Branch, tag or commit, of models of the hub. */
  readonly revision?: string
  /** Which file of `onnx/`: `fp32` is `model.onnx`, `q8` is `model_quantized.onnx` … Default `fp32`. */
  readonly dtype?: "fp32" | "fp16" | "q8" | "q4" | "q4f16" | "int8" | "uint8" | "bnb4"
  /** Whether a model of the hub may be fetched when it is not on this machine. Default false: nothing is. */
  readonly download?: boolean
  /** Tokens that are read of a text; the rest is cut off. Default: what the tokenizer says, 512 where it says nothing. */
  readonly maxTokens?: number
  /** How the library is loaded. Default `import("@huggingface/transformers")`. */
  readonly library?: () => Promise<unknown>
}

/** Texts to the tensors that the model takes. */
type Tokenizer = {
  (texts: ReadonlyArray<string>, options: object): Readonly<Record<string, Tensor>>
  readonly model_max_length?: number | null
}

type Model = {
  (inputs: object): Promise<Readonly<Record<string, Tensor>>>
  readonly dispose: () => Promise<unknown>
}

type Pretrained<A> = { readonly from_pretrained: (model: string, options: object) => Promise<A> }

/** The part of the library that is used. */
interface Library {
  readonly AutoTokenizer: Pretrained<Tokenizer>
  readonly AutoModel: Pretrained<Model>
  readonly AutoModelForSequenceClassification: Pretrained<Model>
}

/** What the model gave for some texts, with what it was given. */
export interface Run {
  readonly inputs: Readonly<Record<string, Tensor>>
  readonly outputs: Readonly<Record<string, Tensor>>
}

const MAX_TOKENS = 512

/** The name in manifests: whatever changes what the model gives is part of it. */
export const modelName = ({ dtype, maxTokens, model, name, revision }: TransformersModelOptions): string =>
  [
    name ?? (isFolder(model) ? (model.split(/[\\/]/).findLast((part) => part !== "") ?? model) : model),
    revision === undefined ? "" : `@${revision}`,
    dtype === undefined || dtype === "fp32" ? "" : ` ${dtype}`,
    maxTokens === undefined ? "" : ` ${maxTokens} tokens`
  ].join("")

/** Tokens that are read of a text. Tokenizers without a limit say nothing, or a number of thirty digits. */
export const tokensRead = (asked: number | undefined, said: number | null | undefined): number => {
  const most = said ?? Number.POSITIVE_INFINITY
  return Math.min(asked ?? (most > 1_000_000 ? MAX_TOKENS : most), most)
}

const isFolder = (model: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/])/.test(model)

/**
 * Runs the model over texts, one run at a time; it is loaded by the first and released with the scope.
 *
 * Fails with `InvalidRequest` where the library is not installed or the model is not there, saying what to do.
 */
export const makeTransformersModel = Effect.fn("TransformersModel.make")(function* (
  options: TransformersModelOptions,
  operation: "embeddings" | "rerank"
): Effect.fn.Return<
  (texts: ReadonlyArray<string>, pairs?: ReadonlyArray<string>) => Effect.Effect<Run, GatewayError>,
  never,
  Scope.Scope
> {
  const one = yield* Semaphore.make(1)
  let loaded: { readonly tokenizer: Tokenizer; readonly model: Model } | undefined
  yield* Effect.addFinalizer(() =>
    Effect.promise(async () => {
      await loaded?.model.dispose()
      loaded = undefined
    })
  )
  const failed = (message: string) =>
    new GatewayError({
      operation,
      model: modelName(options),
      reason: new InvalidRequest({ message })
    })

  const load = Effect.gen(function* () {
    if (loaded !== undefined) return loaded
    const library = yield* Effect.tryPromise({
      try: async () => checked(await (options.library ?? (() => import("@huggingface/transformers")))()),
      catch: (cause) =>
        failed(
          `A neural model in this process needs the package @huggingface/transformers (474 MB): npm install @huggingface/transformers. ${reasonOf(cause)}`
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
        failed(
          `The model cannot be loaded: ${reasonOf(cause)} Give a folder with config.json, tokenizer.json and onnx/model.onnx, or an identifier of the hub with \`download: true\`.`
        )
    })
    return loaded
  })

  return (texts, pairs) =>
    Effect.gen(function* () {
      const { model, tokenizer } = yield* load
      return yield* Effect.tryPromise({
        try: async (): Promise<Run> => {
          const inputs = tokenizer(texts, {
            padding: true,
            truncation: true,
            max_length: tokensRead(options.maxTokens, tokenizer.model_max_length),
            ...(pairs === undefined ? {} : { text_pair: pairs })
          })
          return { inputs, outputs: await model(inputs) }
        },
        catch: (cause) => failed(`The model failed: ${reasonOf(cause)}`)
      })
    }).pipe(one.withPermit)
})

const checked = (library: unknown): Library => {
  const found = library as Partial<Library>
  if (typeof found.AutoTokenizer?.from_pretrained !== "function")
    throw new Error("What is installed under that name is another package.")
  return found as Library
}

const reasonOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const first = (text.split("\n")[0] ?? text).slice(0, 300)
  return /[.!?]$/.test(first) ? first : `${first}.`
}
