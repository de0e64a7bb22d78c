/** What the thread of a model does. It has one model, loads it with the first job, and keeps it. */
import type { WorkerOutput } from "@sluice/core/workers"
import { pool, type Pooling, pooledRows, type Tensor } from "./Pooling.ts"

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
  /** The library, as the thread of the model imports it: a package, or the URL of a file. Default `@huggingface/transformers`. */
  readonly library?: string
}

type Tokenizer = {
  (texts: ReadonlyArray<string>, options: object): Readonly<Record<string, Tensor>>
  readonly model_max_length?: number | null
}

type Model = {
  (inputs: object): Promise<Readonly<Record<string, Tensor>>>
  readonly config?: { readonly label2id?: Readonly<Record<string, number>> | null }
}

type Pretrained<A> = { readonly from_pretrained: (model: string, options: object) => Promise<A> }

/** The used part of the library. */
interface Library {
  readonly AutoTokenizer: Pretrained<Tokenizer>
  readonly AutoModel: Pretrained<Model>
  readonly AutoModelForSequenceClassification: Pretrained<Model>
}

/** A failure that the caller handles: the call is at fault, or what the model returned. */
export interface ModelFault {
  readonly fault: "request" | "response"
  readonly message: string
}

interface Loaded {
  readonly tokenizer: Tokenizer
  readonly model: Model
  readonly maxTokens: number
}

/** The library's package, and how to get it. */
export const LIBRARY = "@huggingface/transformers"
export const INSTALL_COMMAND = `npm install ${LIBRARY}`
export const INSTALL = `A neural model in this process needs the package ${LIBRARY} (474 MB): ${INSTALL_COMMAND}.`

const MAX_TOKENS = 512

/** The number of tokens to truncate to. Tokenizers without a limit give none, or a number of thirty digits. */
export const tokenLimit = (wanted: number | undefined, tokenizerLimit: number | null | undefined): number => {
  const most = tokenizerLimit ?? Number.POSITIVE_INFINITY
  return Math.min(wanted ?? (most > 1_000_000 ? MAX_TOKENS : most), most)
}

const messageOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const first = (text.split("\n")[0] ?? text).slice(0, 300)
  return /[.!?]$/.test(first) ? first : `${first}.`
}

/** The error of a promise, with what to try next. */
const withAdvice = <A>(promise: Promise<A>, advice: (message: string) => string): Promise<A> =>
  promise.catch((cause: unknown) => {
    throw new Error(advice(messageOf(cause)), { cause })
  })

const importLibrary = async ({ library: own }: TransformersModelOptions): Promise<Library> => {
  const library = (await import(own ?? LIBRARY)) as Partial<Library>
  if (typeof library.AutoTokenizer?.from_pretrained !== "function")
    throw new Error("The installed package of that name is another one.")
  return library as Library
}

const load = async (
  options: TransformersModelOptions,
  kind: "AutoModel" | "AutoModelForSequenceClassification"
): Promise<Loaded> => {
  const library = await withAdvice(importLibrary(options), (message) => `${INSTALL} ${message}`)
  const settings = {
    local_files_only: options.download !== true,
    dtype: options.dtype ?? "fp32",
    ...(options.revision === undefined ? {} : { revision: options.revision })
  }
  const [tokenizer, model] = await withAdvice(
    Promise.all([
      library.AutoTokenizer.from_pretrained(options.model, settings),
      library[kind].from_pretrained(options.model, settings)
    ]),
    (message) =>
      `The model cannot be loaded: ${message} Give a folder with config.json, tokenizer.json and onnx/model.onnx, or the identifier of a model on the hub with \`download: true\`.`
  )
  return { tokenizer, model, maxTokens: tokenLimit(options.maxTokens, tokenizer.model_max_length) }
}

let loading: Promise<Loaded> | undefined

/** Runs the model on texts, or on pairs of texts. Loading is tried again after it failed. */
const runModel = async (
  options: TransformersModelOptions,
  kind: Parameters<typeof load>[1],
  texts: ReadonlyArray<string>,
  pairs?: ReadonlyArray<string>
) => {
  loading ??= load(options, kind).catch((cause: unknown) => {
    loading = undefined
    throw cause
  })
  const { maxTokens, model, tokenizer } = await loading
  const inputs = tokenizer(texts, {
    padding: true,
    truncation: true,
    max_length: maxTokens,
    ...(pairs === undefined ? {} : { text_pair: pairs })
  })
  const outputs = await withAdvice(model(inputs), (message) => `The model failed: ${message}`)
  const tokens = Array.from(inputs["attention_mask"]?.data ?? [], Number).reduce((sum, one) => sum + one, 0)
  return { inputs, outputs, tokens, labels: model.config?.label2id ?? {} }
}

/** What a job returns. A thrown error is the request's fault. */
const outputOf = async <A>(job: () => Promise<WorkerOutput<A | ModelFault>>) => {
  try {
    return await job()
  } catch (cause) {
    return { value: { fault: "request", message: messageOf(cause) } as const }
  }
}

const responseFault = (message: string): WorkerOutput<ModelFault> => ({
  value: { fault: "response", message }
})

export interface VectorsInput {
  readonly options: TransformersModelOptions
  readonly texts: ReadonlyArray<string>
  readonly pooling: Pooling
  readonly dimension: number | undefined
}

export interface Embedded {
  readonly vectors: ReadonlyArray<Float32Array<ArrayBuffer>>
  readonly tokens: number
}

/** The vectors of texts, with norm 1. */
export const vectorsJob = ({ dimension, options, pooling, texts }: VectorsInput) =>
  outputOf<Embedded>(async () => {
    const { inputs, outputs, tokens } = await runModel(options, "AutoModel", texts)
    const pooled = outputs["sentence_embedding"]
    const hidden = outputs["last_hidden_state"] ?? outputs["token_embeddings"]
    const mask = inputs["attention_mask"]
    const vectors =
      pooled?.dims.length === 2
        ? pooledRows(pooled, dimension)
        : hidden?.dims.length === 3 && mask !== undefined
          ? pool(hidden, mask, pooling, dimension)
          : undefined
    if (vectors !== undefined)
      return { value: { vectors, tokens }, transfer: vectors.map(({ buffer }) => buffer) }
    const names = Object.keys(outputs).join(", ")
    return responseFault(
      `The model returned ${names || "nothing"} and no token vectors. Check that it is an embedding model.`
    )
  })

export interface ScoresInput {
  readonly options: TransformersModelOptions
  readonly query: string
  readonly texts: ReadonlyArray<string>
}

export interface Scored {
  readonly scores: ReadonlyArray<number>
  readonly tokens: number
}

/** The scores of texts for a query, 0 to 1. */
export const scoresJob = ({ options, query, texts }: ScoresInput) =>
  outputOf<Scored>(async () => {
    const queries = texts.map(() => query)
    const ran = await runModel(options, "AutoModelForSequenceClassification", queries, texts)
    const scores = scoresOf(ran.outputs["logits"], texts.length)
    return scores === undefined
      ? responseFault("The model returned no score for each pair. Check that it is a cross-encoder.")
      : { value: { scores, tokens: ran.tokens } }
  })

/** The logits of each pair. Undefined if they have another shape. */
const logitsOf = (
  logits: Tensor | undefined,
  pairs: number
): ReadonlyArray<ReadonlyArray<number>> | undefined => {
  const [count, labels = 0] = logits?.dims ?? []
  if (logits === undefined || count !== pairs || labels < 1) return undefined
  return Array.from({ length: pairs }, (_, i) =>
    Array.from({ length: labels }, (_, label) => Number(logits.data[i * labels + label]))
  )
}

/** The scores in the order of the pairs, 0 to 1. Undefined if the logits have another shape. */
export const scoresOf = (logits: Tensor | undefined, pairs: number): ReadonlyArray<number> | undefined => {
  const scores = logitsOf(logits, pairs)?.map(([first = 0, last]) =>
    last === undefined ? 1 / (1 + Math.exp(-first)) : 1 / (1 + Math.exp(first - last))
  )
  return scores?.every(Number.isFinite) === true && (logits?.dims[1] ?? 0) <= 2 ? scores : undefined
}

export interface EntailmentInput {
  readonly options: TransformersModelOptions
  readonly premises: ReadonlyArray<string>
  readonly hypotheses: ReadonlyArray<string>
}

/** How probable it is that each premise entails its hypothesis, 0 to 1. */
export const entailmentJob = ({ hypotheses, options, premises }: EntailmentInput) =>
  outputOf<Scored>(async () => {
    const ran = await runModel(options, "AutoModelForSequenceClassification", premises, hypotheses)
    const scores = entailmentOf(ran.outputs["logits"], premises.length, ran.labels)
    return scores === undefined
      ? responseFault(
          'The model has no label "entailment". Check that it is a model of natural language inference.'
        )
      : { value: { scores, tokens: ran.tokens } }
  })

/** The share of the label "entailment". Undefined if the model has none, or if the logits have another shape. */
export const entailmentOf = (
  logits: Tensor | undefined,
  pairs: number,
  labelIds: Readonly<Record<string, number>>
): ReadonlyArray<number> | undefined => {
  const entailment = Object.entries(labelIds).find(([name]) => /^entail/i.test(name))?.[1] ?? Number.NaN
  const scores = logitsOf(logits, pairs)?.map(
    (own) => 1 / own.reduce((sum, logit) => sum + Math.exp(logit - own[entailment]!), 0)
  )
  return scores?.every(Number.isFinite) === true ? scores : undefined
}
