/** Batches of texts, and the error when some of them fail. */
import { asSentence, PartialFailure } from "../../contract/GatewayError.ts"

/** The limits of one request. */
export interface BatchLimits {
  readonly texts: number
  /** UTF-8 bytes of the texts. A longer text is sent alone. */
  readonly bytes: number
}

/** Below the limits of the strictest known gateways for small models; larger batches gain nothing. */
export const BATCH: BatchLimits = { texts: 96, bytes: 256 * 1024 }

export type OptionalLimits = { readonly [Limit in keyof BatchLimits]?: number | undefined }

/** The texts of a call. */
export const textsOf = (input: string | ReadonlyArray<string>): ReadonlyArray<string> => [input].flat()

/** The limits of options. An undefined one is the default. */
export const batchLimits = ({ bytes, texts }: OptionalLimits): BatchLimits => ({
  texts: texts ?? BATCH.texts,
  bytes: bytes ?? BATCH.bytes
})

/** Consecutive texts for one request. `start` is the position of the first. */
export interface TextBatch {
  readonly start: number
  readonly texts: ReadonlyArray<string>
}

/** Splits texts, in their order, into as few batches as the limits allow. */
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

/** `failed` and `kept` are positions in the input. `first` is the reason of the first failure. */
export const partialFailure = (parts: Pick<PartialFailure, "failed" | "kept" | "first">): PartialFailure => {
  const { failed, first, kept } = parts
  const count = `${failed.length} of ${failed.length + kept.size} texts have no vector`
  const message = `${count}: ${asSentence(first.message)} Call again with those alone; the others are in \`kept\`.`
  return new PartialFailure({ message, ...parts })
}
