/** What the thread of a model does. It has one model, loads it with the first job, and keeps it. */
import { existsSync } from "node:fs"
import { join } from "node:path"
import type { ReaderPassage } from "@sluice/core/models"
import { splitSentences } from "@sluice/core/text"
import type { WorkerOutput } from "@sluice/core/workers"
import { bestSpan, type Encode, encodePair, placeOfSpan, windowsOf } from "./AnswerSpans.ts"
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

type Tokenizer = Encode & {
  (texts: ReadonlyArray<string>, options: object): Readonly<Record<string, Tensor>>
  readonly decode: (ids: ReadonlyArray<number>, options: object) => string
  readonly model_max_length?: number | null
  readonly pad_token_id?: number | null
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
  readonly AutoModelForQuestionAnswering: Pretrained<Model>
  readonly Tensor: new (type: "int64", data: BigInt64Array, dims: ReadonlyArray<number>) => Tensor
}

/** A failure that the caller handles: the model cannot be loaded or run, or what it returned is at fault. */
export interface ModelFault {
  readonly fault: "model" | "response"
  readonly message: string
}

interface Loaded {
  readonly library: Library
  readonly tokenizer: Tokenizer
  readonly model: Model
  readonly maxTokens: number
}

/** The library's package, and how to get it. */
export const LIBRARY = "@huggingface/transformers"
export const INSTALL = `A neural model in this process needs the package ${LIBRARY} (474 MB): npm install ${LIBRARY}.`

const MAX_TOKENS = 512

/** The number of tokens to truncate to. Tokenizers without a limit give none, or a number of thirty digits. */
export const tokenLimit = (wanted: number | undefined, tokenizerLimit: number | null | undefined): number => {
  const most = tokenizerLimit ?? Number.POSITIVE_INFINITY
  return Math.min(wanted ?? (most > 1_000_000 ? MAX_TOKENS : most), most)
}

export const firstLineOf = (cause: unknown): string => {
  const text = cause instanceof Error ? cause.message : String(cause)
  const first = (text.split("\n")[0] ?? text).slice(0, 300)
  return /[.!?]$/.test(first) ? first : `${first}.`
}

/** The error of a promise, with what to try next. */
export const withAdvice = <A>(promise: Promise<A>, advice: (message: string) => string): Promise<A> =>
  promise.catch((cause: unknown) => {
    throw new Error(advice(firstLineOf(cause)), { cause })
  })

const importLibrary = async ({ library: own }: TransformersModelOptions): Promise<Library> => {
  const library = (await import(own ?? LIBRARY)) as Partial<Library>
  if (typeof library.AutoTokenizer?.from_pretrained !== "function")
    throw new Error("The installed package of that name is another one.")
  return library as Library
}

export const isFolder = (model: string): boolean => /^(\.{0,2}[\\/]|[A-Za-z]:[\\/])/.test(model)

/** Fails before the library looks for files that are missing: it would not look again. */
const checkFolder = async ({ model }: TransformersModelOptions): Promise<void> => {
  const missing = ["config.json", "tokenizer.json"].filter((name) => !existsSync(join(model, name)))
  if (isFolder(model) && missing.length > 0)
    throw new Error(`${model} has no ${missing.join(" and no ")}. Pull the model again if it was pulled.`)
}

/**
 * Threads of the runtime that wait sleep. By default they spin, which took half as much processor time again where other work
 * runs (bench/peers/README.md).
 */
const SESSION = { extra: { session: { intra_op: { allow_spinning: "0" } } } }

const load = async (
  options: TransformersModelOptions,
  kind: "AutoModel" | "AutoModelForSequenceClassification" | "AutoModelForQuestionAnswering"
): Promise<Loaded> => {
  const library = await withAdvice(importLibrary(options), (message) => `${INSTALL} ${message}`)
  const settings = {
    local_files_only: options.download !== true,
    dtype: options.dtype ?? "fp32",
    session_options: SESSION,
    ...(options.revision === undefined ? {} : { revision: options.revision })
  }
  const [tokenizer, model] = await withAdvice(
    checkFolder(options).then(() =>
      Promise.all([
        library.AutoTokenizer.from_pretrained(options.model, settings),
        library[kind].from_pretrained(options.model, settings)
      ])
    ),
    (message) =>
      `The model cannot be loaded: ${message} Give a folder with config.json, tokenizer.json and onnx/model.onnx, or the identifier of a model on the hub with \`download: true\`.`
  )
  return { library, tokenizer, model, maxTokens: tokenLimit(options.maxTokens, tokenizer.model_max_length) }
}

let loading: Promise<Loaded> | undefined

/** Loads the model with the first call. Loading is tried again after it failed. */
const loadOnce = (...[options, kind]: Parameters<typeof load>): Promise<Loaded> =>
  (loading ??= load(options, kind).catch((cause: unknown) => {
    loading = undefined
    throw cause
  }))

const compute = async ({ model }: Loaded, inputs: Readonly<Record<string, Tensor>>) => {
  const outputs = await withAdvice(model(inputs), (message) => `The model failed: ${message}`)
  const tokens = Array.from(inputs["attention_mask"]?.data ?? [], Number).reduce((sum, one) => sum + one, 0)
  return { inputs, outputs, tokens, labels: model.config?.label2id ?? {} }
}

/** Runs the model on texts, or on pairs of texts. */
const runModel = async (
  options: TransformersModelOptions,
  kind: Parameters<typeof load>[1],
  texts: ReadonlyArray<string>,
  pairs?: ReadonlyArray<string>
) => {
  const loaded = await loadOnce(options, kind)
  const inputs = loaded.tokenizer(texts, {
    padding: true,
    truncation: true,
    max_length: loaded.maxTokens,
    ...(pairs === undefined ? {} : { text_pair: pairs })
  })
  return compute(loaded, inputs)
}

/** What a job returns. Texts of any kind can be computed: a thrown error is the model's fault. */
const outputOf = async <A>(job: () => Promise<WorkerOutput<A | ModelFault>>) => {
  try {
    return await job()
  } catch (cause) {
    return { value: { fault: "model", message: firstLineOf(cause) } as const }
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

export interface SentencesInput {
  readonly options: TransformersModelOptions
  readonly question: string
  readonly passages: ReadonlyArray<ReaderPassage>
}

export interface FoundSentence {
  readonly text: string
  readonly quote: string
  /** The probability of its span against that of no answer, 0 to 1. */
  readonly score: number
}

export interface FoundSentences {
  readonly sentences: ReadonlyArray<FoundSentence | undefined>
  readonly tokens: number
}

/** Full windows are not faster in larger batches (decision 22). */
const WINDOWS_PER_RUN = 4

/** The sentence, table row or line of code of each passage in which its best span is. Undefined where it is not found. */
export const sentencesJob = ({ options, passages, question }: SentencesInput) =>
  outputOf<FoundSentences>(async () => {
    const loaded = await loadOnce(options, "AutoModelForQuestionAnswering")
    const { library, maxTokens, tokenizer } = loaded
    const pairs = passages.map(({ text }) => encodePair(tokenizer, question, text))
    const windows = pairs.flatMap((pair, i) =>
      windowsOf(pair, maxTokens).map((positions) => ({ pair, i, positions }))
    )
    const best: Array<ReturnType<typeof bestSpan>> = passages.map(() => undefined)
    let tokens = 0
    for (let from = 0; from < windows.length; from += WINDOWS_PER_RUN) {
      const batch = windows.slice(from, from + WINDOWS_PER_RUN)
      const width = Math.max(...batch.map(({ positions }) => positions.length))
      /** A row for each window, filled up on the right. */
      const tensor = (fill: number, valueOf: (pair: (typeof pairs)[number], at: number) => number) => {
        const rows = batch.flatMap(({ pair, positions }) =>
          Array.from({ length: width }, (_, at) =>
            at < positions.length ? valueOf(pair, positions[at]!) : fill
          )
        )
        return new library.Tensor("int64", BigInt64Array.from(rows, BigInt), [batch.length, width])
      }
      const { outputs, tokens: more } = await compute(loaded, {
        input_ids: tensor(tokenizer.pad_token_id ?? 0, ({ ids }, at) => ids[at]!),
        attention_mask: tensor(0, () => 1),
        ...(pairs[0]?.types && { token_type_ids: tensor(0, ({ types }, at) => types?.[at] ?? 0) })
      })
      tokens += more
      const starts = logitsOf(outputs["start_logits"], batch.length)
      const ends = logitsOf(outputs["end_logits"], batch.length)
      if ([starts, ends].some((rows) => rows?.[0]?.length !== width || !rows.flat().every(Number.isFinite)))
        return responseFault(
          "The model returned no start and end for each token. Check that it is a model of extractive question answering."
        )
      batch.forEach(({ i, pair, positions }, row) => {
        const span = bestSpan(pair, positions, starts![row]!, ends![row]!)
        if (span !== undefined && span.margin > (best[i]?.margin ?? Number.NEGATIVE_INFINITY)) best[i] = span
      })
    }
    const sentences = pairs.map(({ ids, passage: range }, i) => {
      const span = best[i]
      if (span === undefined) return undefined
      const decode = (from: number, to: number) =>
        from === to ? "" : tokenizer.decode(ids.slice(from, to), { skip_special_tokens: true })
      const [before, words] = [decode(range.start, span.start), decode(span.start, span.end)]
      const passage = passages[i]!
      const place = placeOfSpan(before, words, passage.text)
      if (place === undefined) return undefined
      const found = splitSentences(passage).find(({ end, start }) => start <= place && place < end)
      if (found === undefined) return undefined
      const quote = passage.text.slice(found.start, found.end)
      return { text: found.named ?? found.text, quote, score: 1 / (1 + Math.exp(-span.margin)) }
    })
    return { value: { sentences, tokens } }
  })
