/** Text Embeddings Inference, by the OpenAPI document in its repository. The client of Hugging Face decodes its embeddings. */
import { only, Refusal, routes, vectorAt } from "./Texts.ts"

export const teiFake = routes(
  {
    "/embed": (body) => {
      only(body, "inputs", "truncate", "truncation_direction", "normalize", "prompt_name", "dimensions")
      if (body["truncate"] !== true) throw new Refusal(413, "`inputs` must have less than 512 tokens")
      return [body["inputs"]].flat().map((_, index) => vectorAt(index))
    }
  },
  () => true,
  (error) => ({ error, error_type: "Validation" })
)
