/** One call, said twice. */
export interface Snippet {
  /** For a shell with `SLUICE_API_KEY` set. */
  readonly curl: string
  /** A whole program over `@sluice/core`. */
  readonly effect: string
}
