/** One vector of a text from the vectors of its tokens. */

/** Numbers as models give them: row by row, with the length of each dimension. */
export interface Tensor {
  readonly dims: ReadonlyArray<number>
  readonly data: ArrayLike<number | bigint>
}

/** What a model was trained with: the mean of its tokens, the first one (`[CLS]`), or the last. */
export type Pooling = "mean" | "cls" | "last"

/**
 * The vectors of the texts, of norm 1, cut to their first `dimension` numbers where one is given.
 *
 * **Details.** `hidden` is texts × tokens × numbers, `mask` texts × tokens: 1 where a token is the text's own, 0 where it
 * fills the row up, on either side. A text without tokens has the zero vector.
 */
export const pool = (
  hidden: Tensor,
  mask: Tensor,
  pooling: Pooling,
  dimension?: number
): ReadonlyArray<Float32Array> => {
  const [texts = 0, tokens = 0, width = 0] = hidden.dims
  const isToken = (text: number, token: number) => Number(mask.data[text * tokens + token]) !== 0
  return Array.from({ length: texts }, (_, text) => {
    const own = Array.from({ length: tokens }, (_, token) => token).filter((token) => isToken(text, token))
    const taken = pooling === "mean" ? own : pooling === "cls" ? own.slice(0, 1) : own.slice(-1)
    const vector = new Float32Array(Math.min(width, dimension ?? width))
    for (const token of taken) {
      const from = (text * tokens + token) * width
      for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) + Number(hidden.data[from + i])
    }
    return normalise(vector)
  })
}

/** The rows of texts × numbers, of norm 1: of models that pool themselves. */
export const rows = ({ data, dims: [texts = 0, width = 0] }: Tensor, dimension?: number) =>
  Array.from({ length: texts }, (_, text) =>
    normalise(
      Float32Array.from({ length: Math.min(width, dimension ?? width) }, (_, i) =>
        Number(data[text * width + i])
      )
    )
  )

const normalise = (vector: Float32Array): Float32Array => {
  let squares = 0
  for (const value of vector) squares += value * value
  return squares === 0 ? vector : vector.map((value) => value / Math.sqrt(squares))
}
