/** Arithmetic of vectors. */

/** Whether it can be compared by its angle: zero vectors cannot. */
export const hasDirection = (vector: Float32Array): boolean => vector.some((value) => value !== 0)
