/** Which of a vendor's models to start with, as data. */
import type { OperationName, VendorModel } from "./Dialect.ts"
import { plainName } from "./ModelFamilies.ts"

type Named = Required<VendorModel>

/** Names by operation, best first: good models of moderate price. A vendor's prefix, as in `openai/gpt-5-mini`, is ignored. */
const PREFERRED: { readonly [name in OperationName]?: ReadonlyArray<RegExp> } = {
  embeddings: [
    /^text-embedding-3-small$/,
    /^embed-(?:v4|multilingual)/,
    /^voyage-3\.5$/,
    /^gemini-embedding/,
    /^mistral-embed$/,
    /^(?:bge-m3|qwen3-embedding|nomic-embed-text)/
  ],
  rerank: [
    /^rerank-v3\.5$/,
    /^rerank-2\.5$/,
    /^jina-reranker-v3$/,
    /^(?:jina-)?rerank.*multilingual/,
    /^bge-reranker/
  ],
  chat: [
    /^gpt-5-mini$/,
    /^gpt-4(?:\.1|o)-mini$/,
    /^claude-sonnet-\d[\d-]*$/,
    /^gemini-[\d.]+-flash$/,
    /^mistral-small-latest$/,
    /^command-a/
  ],
  images: [/^gpt-image-1(?:-mini)?$/, /^imagen-4/, /flux/],
  videos: [/^sora-2$/, /^veo-3/]
}

/** Chat models that look at images. */
const SEES = /gpt-(?:4o|4\.1|5)|claude|gemini|pixtral|llava|gemma-?3|vision|-vl\b|mistral-(?:small|medium)/i

/** The model to start with for an operation: a preferred one, or else the first. */
export const preferredModel = (
  models: ReadonlyArray<Named>,
  operation: OperationName
): string | undefined => {
  const able = models.filter((model) => model.operation === operation)
  const preferred = (PREFERRED[operation] ?? []).flatMap((name) =>
    able.filter((model) => name.test(plainName(model.id)))
  )
  return (preferred[0] ?? able[0])?.id
}

/** The library's models among those of a vendor. What the vendor lacks is absent. */
export const preferredModels = (models: ReadonlyArray<Named>) => {
  const [embedding, rerank, chat] = (["embeddings", "rerank", "chat"] as const).map((operation) =>
    preferredModel(models, operation)
  )
  return {
    ...(embedding !== undefined && { embedding }),
    ...(rerank !== undefined && { rerank }),
    ...(chat !== undefined && { chat, ...(SEES.test(chat) && { vision: chat }) })
  }
}
