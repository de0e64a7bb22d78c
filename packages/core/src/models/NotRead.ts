/** Why a model's response was not read as an answer. It says nothing about the documents. */

export type NotReadReason =
  | "truncated" // The model's limit of tokens ended it.
  | "filtered" // A content filter ended it.
  | "refused" // The model refused.
  | "protocol" // It is not sentences with citations, even when asked again.
  | "unproven" // None of its quotes is in the passages, even when asked again.
  | "unsupported" // Its quotes do not support its sentences, and `verify: "drop"` left them out.

export interface NotRead {
  readonly reason: NotReadReason
  /** What happened. */
  readonly message: string
  /** What to do. */
  readonly advice: string
}

const TEXTS: Record<NotReadReason, readonly [message: string, advice: string]> = {
  truncated: [
    "The model's response was cut off at its limit of tokens.",
    "Raise `maxTokens` of the reader (`null`: no limit), or use a model that reasons less."
  ],
  filtered: [
    "A content filter of the model stopped the response.",
    "Ask in other words, or use a model with another filter."
  ],
  refused: ["The model refused to answer.", "Ask in other words, or use another model."],
  protocol: [
    "The model did not write sentences with citations.",
    "Ask again, or use a larger model: small ones often do not keep the form."
  ],
  unproven: [
    "The model answered, but none of its sentences is proved by the passages.",
    "Ask again, or use a model that copies quotes to the letter."
  ],
  unsupported: [
    "The model answered, but its quotes support none of its sentences.",
    'Ask again, or mark such sentences (`verify: "mark"`) in place of leaving them out.'
  ]
}

export const notRead = (reason: NotReadReason): NotRead => {
  const [message, advice] = TEXTS[reason]
  return { reason, message, advice }
}
