/** Pools the vectors of tokens into the vector of a text. */

/** A tensor in row-major order. */
export interface Tensor {
  readonly dims: ReadonlyArray<number>
  readonly data: ArrayLike<number | bigint>
}

/** The mean of the tokens, the first one (`[CLS]`), or the last, as the model was trained. */
export type Pooling = "mean" | "cls" | "last"

/**
 * The vectors of texts, with norm 1, truncated to `dimension` if given.
 *
 * **Details.** `hidden` is texts × tokens × dimensions. `mask` is texts × tokens: 1 for a token, 0 for padding on either
 * side. A text without tokens has the zero vector.
 */
export const pool = (
  hidden: Tensor,
  mask: Tensor,
  pooling: Pooling,
  dimension?: number
): ReadonlyArray<Float32Array<ArrayBuffer>> => {
  const [texts = 0, tokens = 0, width = 0] = hidden.dims
  const isToken = (text: number, token: number) => Number(mask.data[text * tokens + token]) !== 0
  return Array.from({ length: texts }, (_, text) => {
    const indexes = Array.from({ length: tokens }, (_, token) => token).filter((token) =>
      isToken(text, token)
    )
    const pooled = pooling === "mean" ? indexes : pooling === "cls" ? indexes.slice(0, 1) : indexes.slice(-1)
    const vector = new Float32Array(Math.min(width, dimension ?? width))
    for (const token of pooled) {
      const from = (text * tokens + token) * width
      for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) + Number(hidden.data[from + i])
    }
    return normalise(vector)
  })
}

/** The vectors of a model that pools by itself, texts × dimensions, with norm 1. */
export const pooledRows = ({ data, dims: [texts = 0, width = 0] }: Tensor, dimension?: number) =>
  Array.from({ length: texts }, (_, text) =>
    normalise(
      Float32Array.from({ length: Math.min(width, dimension ?? width) }, (_, i) =>
        Number(data[text * width + i])
      )
    )
  )

const normalise = (vector: Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> => {
  let squares = 0
  for (const value of vector) squares += value * value
  return squares === 0 ? vector : vector.map((value) => value / Math.sqrt(squares))
}
