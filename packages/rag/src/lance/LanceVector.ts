/** Arithmetic of vectors. */

/** Whether it can be compared by its angle: zero vectors cannot. */
export const hasDirection = (vector: Float32Array): boolean => vector.some((value) => value !== 0)

/** The cosine of two vectors of equal length, -1 to 1; 0 where one of them has no direction. */
export const cosine = (a: Float32Array, b: Float32Array): number => {
  let dot = 0
  let aa = 0
  let bb = 0
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [a[i]!, b[i]!]
    dot += x * y
    aa += x * x
    bb += y * y
  }
  return aa === 0 || bb === 0 ? 0 : Math.max(-1, Math.min(1, dot / Math.sqrt(aa * bb)))
}
