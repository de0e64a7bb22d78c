/** What a call is about: for its errors, its spans, and whether it may be made again. */

export interface About {
  readonly operation: string
  readonly model?: string
  /**
   * Whether a failed attempt may be made again. `reads` (the default) by the retry policy; `creations` only where the
   * first surely did not happen: no byte of it was sent, or it was answered 429; `never` for what takes effect each time.
   */
  readonly repeat?: "reads" | "creations" | "never"
  /** More attributes of the call's span, `gen_ai.request.max_tokens` for one; nothing of a prompt. */
  readonly request?: Readonly<Record<string, unknown>>
}
