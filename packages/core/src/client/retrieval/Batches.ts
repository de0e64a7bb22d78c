/** How many texts become several requests. */

export interface BatchLimits {
  /** Texts of one request at most. */
  readonly texts: number
  /** UTF-8 bytes of one request's texts at most; a longer text goes alone. */
  readonly bytes: number
}

/** Below what the strictest known gateways take for small models, above where larger batches gain anything. */
export const BATCH: BatchLimits = { texts: 96, bytes: 256 * 1024 }

/** Consecutive texts that go in one request; `start` is the position of the first. */
export interface TextBatch {
  readonly start: number
  readonly texts: ReadonlyArray<string>
}

/** Splits texts in their order, as few requests as the limits allow. */
export const batches = (texts: ReadonlyArray<string>, limits: BatchLimits): ReadonlyArray<TextBatch> => {
  const result: Array<TextBatch> = []
  let start = 0
  let bytes = 0
  for (const [position, text] of texts.entries()) {
    const size = Buffer.byteLength(text)
    if (position > start && (position - start >= limits.texts || bytes + size > limits.bytes)) {
      result.push({ start, texts: texts.slice(start, position) })
      start = position
      bytes = 0
    }
    bytes += size
  }
  if (start < texts.length) result.push({ start, texts: texts.slice(start) })
  return result
}
