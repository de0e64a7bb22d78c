/** The library called directly: a rerank in one batch, on the thread that calls. */
import { answerCalls, lowerPriority } from "./Contender.ts"

type Tensor = { readonly data: Float32Array }
type Pretrained<A> = { readonly from_pretrained: (model: string, options: object) => Promise<A> }

interface Library {
  readonly AutoTokenizer: Pretrained<(texts: ReadonlyArray<string>, options: object) => object>
  readonly AutoModelForSequenceClassification: Pretrained<
    (inputs: object) => Promise<{ readonly logits: Tensor }>
  >
}

lowerPriority()
answerCalls(async ({ dtype, library, maxTokens, model }) => {
  const { AutoModelForSequenceClassification, AutoTokenizer } = (await import(library)) as Library
  const settings = { dtype, local_files_only: true }
  const tokenizer = await AutoTokenizer.from_pretrained(model, settings)
  const crossEncoder = await AutoModelForSequenceClassification.from_pretrained(model, settings)
  return async ({ query, texts }) => {
    const queries = texts.map(() => query ?? "")
    const options = { text_pair: texts, padding: true, truncation: true, max_length: maxTokens }
    const { logits } = await crossEncoder(tokenizer(queries, options))
    return Array.from(logits.data, (logit) => [1 / (1 + Math.exp(-logit))])
  }
})
