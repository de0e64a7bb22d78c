/** Families of models, as data: what a name says about the operation and the parameters. */
import type { Dialect, KnownModel, OperationName } from "./Dialect.ts"

/** How a request changes for a model. */
export interface Adjustment {
  readonly drop?: ReadonlyArray<string>
  readonly rename?: Readonly<Record<string, string>>
}

/** Families whose models refuse parameters of the interface. A vendor's prefix, as in `openai/gpt-5`, is ignored. */
const ADJUSTMENTS: ReadonlyArray<readonly [RegExp, Adjustment]> = [
  [
    // OpenAI's reasoning models: 400 `unsupported_parameter`, `unsupported_value`.
    /^(?:o[1-9]|gpt-5)(?!.*chat)/,
    {
      drop: ["temperature", "top_p", "presence_penalty", "frequency_penalty"],
      rename: { max_tokens: "max_completion_tokens" }
    }
  ]
]

/** The name without the vendor's prefix. */
export const plainName = (model: string): string => model.slice(model.lastIndexOf("/") + 1).toLowerCase()

export const familyOf = (model: string): Adjustment =>
  ADJUSTMENTS.find(([family]) => family.test(plainName(model)))?.[1] ?? {}

type Prefixes = NonNullable<KnownModel["prefixes"]>

/** Open embedding models that expect prefixes, from their model cards. */
const PREFIXES: ReadonlyArray<readonly [RegExp, Prefixes]> = [
  // LM Studio names embedding models so.
  [/^(?:text-embedding-)?nomic-embed-text/, { query: "search_query: ", passage: "search_document: " }],
  [/^embeddinggemma/, { query: "task: search result | query: ", passage: "title: none | text: " }],
  [/^(?:multilingual-)?e5-/, { query: "query: ", passage: "passage: " }],
  [
    /^mxbai-embed-large|^snowflake-arctic-embed/,
    { query: "Represent this sentence for searching relevant passages: ", passage: "" }
  ]
]

/** What is known about a model of a vendor. */
export const knownModel = (
  { models = {} }: Dialect,
  model: string
): Partial<Omit<KnownModel, "operation">> => {
  const prefixes = PREFIXES.find(([family]) => family.test(plainName(model)))?.[1]
  return { ...(prefixes && { prefixes }), ...models[model] }
}

/** Names of models by their operation. The first that matches counts; undefined: the interface has no such operation. */
const OPERATIONS: ReadonlyArray<readonly [RegExp, OperationName | undefined]> = [
  [/whisper|tts|transcri|speech|audio|realtime|moderation|ocr|babbage|davinci/, undefined],
  [/rerank/, "rerank"],
  [/embed|minilm|\b(?:bge|gte|e5|bert)\b/, "embeddings"],
  [/sora|veo|kling|runway|\bgen-?[34]|ray-?2|wanx?[\d.-]*-[it]2v|video|hailuo|seedance/, "videos"],
  [
    /dall-e|image|imagen|flux|stable-?diffusion|sdxl|sd3|kolors|seedream|wanx?[\d.-]*-t2i|midjourney/,
    "images"
  ]
]

/** The operation that a model's name suggests: chat, unless it says otherwise. */
export const guessOperation = (model: string): OperationName | undefined => {
  const name = model.toLowerCase()
  const found = OPERATIONS.find(([family]) => family.test(name))
  return found === undefined ? "chat" : found[1]
}
