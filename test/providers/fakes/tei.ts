/**
 * Text Embeddings Inference, by the OpenAPI document in its repository: `docs/openapi.json` of
 * https://github.com/huggingface/text-embeddings-inference. The client of Hugging Face decodes its embeddings.
 */
import { only, ranked, Refusal, routes, vectorAt } from "./Texts.ts"

export const teiFake = routes(
  {
    "/rerank": (body) => {
      only(body, "query", "texts", "truncate", "truncation_direction", "raw_scores", "return_text")
      if (body["truncate"] !== true) throw new Refusal(413, "`inputs` must have less than 512 tokens")
      return ranked(body["texts"], undefined).map(({ index, score }) => ({ index, score }))
    },
    "/embed": (body) => {
      only(body, "inputs", "truncate", "truncation_direction", "normalize", "prompt_name", "dimensions")
      if (body["truncate"] !== true) throw new Refusal(413, "`inputs` must have less than 512 tokens")
      return [body["inputs"]].flat().map((_, index) => vectorAt(index))
    }
  },
  () => true,
  (error) => ({ error, error_type: "Validation" })
)
