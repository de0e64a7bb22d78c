/** Embeddings requests and responses of the interface, for dialects. */
import { encodeVector } from "@sluice/core/contract"
import type { Fields, InterfaceRequest } from "../protocol/Dialect.ts"
import { itemsAt, present } from "./Values.ts"

/** The texts to embed. */
export const inputTexts = ({ input }: InterfaceRequest): ReadonlyArray<unknown> =>
  Array.isArray(input) ? input : [input]

/** What the vectors are for. Vendors that distinguish it expect it in a field. */
type InputType = "query" | "document"

/** The vendor's word for `input_type`, which may be the vendor's own already. */
export const inputType = (
  { input_type }: InterfaceRequest,
  words: Readonly<Record<InputType, string>>
): string | undefined =>
  input_type === "query" || input_type === "document"
    ? words[input_type]
    : typeof input_type === "string"
      ? input_type
      : undefined

/** Whether the caller asked for Base64. */
export const wantsBase64 = ({ encoding_format }: InterfaceRequest): boolean => encoding_format === "base64"

/** The vectors in the encoding that the caller asked for. A text is Base64 already. */
export const embeddingsOf = (
  asked: InterfaceRequest,
  vectors: ReadonlyArray<unknown>,
  tokens: number | undefined
): Fields => {
  const isBase64 = wantsBase64(asked)
  return present({
    object: "list",
    model: asked.model,
    data: vectors.map((vector, index) => ({
      object: "embedding",
      index,
      embedding: isBase64 && Array.isArray(vector) ? encodeVector(Float32Array.from(vector)) : vector
    })),
    usage: tokens === undefined ? undefined : { prompt_tokens: tokens, total_tokens: tokens }
  })
}

/** The vectors in a response of OpenAI's form, in order. */
export const orderedVectors = (body: unknown): ReadonlyArray<unknown> =>
  (itemsAt(body, "data") as ReadonlyArray<{ readonly index?: number; readonly embedding?: unknown }>)
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .map(({ embedding }) => embedding)
