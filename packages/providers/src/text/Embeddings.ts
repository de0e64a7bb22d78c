/** Embeddings requests and responses of the interface, for dialects. */
import { encodeVector } from "@sluice/core/contract"
import { Struct } from "effect"
import type { Fields, InterfaceRequest, OperationDialect } from "../protocol/Dialect.ts"
import { itemsAt, present, usageIn } from "../protocol/JsonValues.ts"

/** The texts to embed. */
export const inputTexts = ({ input }: InterfaceRequest): ReadonlyArray<unknown> =>
  Array.isArray(input) ? input : [input]

/** The vendor's word for `input_type`, what the vectors are for. It may be the vendor's own already. */
export const inputType = (
  { input_type: type }: InterfaceRequest,
  words: { readonly query: string; readonly document: string }
): string | undefined => {
  if (type === "query" || type === "document") return words[type]
  return typeof type === "string" ? type : undefined
}

/** Whether the caller asked for Base64. */
export const wantsBase64 = ({ encoding_format }: InterfaceRequest): boolean => encoding_format === "base64"

/** The vectors in the encoding that the caller asked for. A text is Base64 already. */
export const embeddingsOf = (
  asked: InterfaceRequest,
  body: unknown,
  vectors: ReadonlyArray<unknown>
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
    usage: usageIn(body)
  })
}

/** The vectors in a response of OpenAI's form, in order. */
const orderedVectors = (body: unknown): ReadonlyArray<unknown> =>
  (itemsAt(body, "data") as ReadonlyArray<{ readonly index?: number; readonly embedding?: unknown }>)
    .toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0))
    .map(({ embedding }) => embedding)

const MAPPED = ["dimensions", "encoding_format", "input", "input_type"]

/** Embeddings of most vendors. `fields`: those that the vendor names or writes differently; the others are options. */
export const embeddingsAt = (
  path: string,
  fields: (asked: InterfaceRequest) => Fields,
  vectors: (body: unknown) => ReadonlyArray<unknown> = orderedVectors
) =>
  ({
    path,
    request: (asked) => present({ ...Struct.omit(asked as Fields, MAPPED), ...fields(asked) }),
    response: (body, asked) => embeddingsOf(asked, body, vectors(body))
  }) satisfies OperationDialect
