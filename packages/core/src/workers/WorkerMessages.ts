/** The messages between the pool and its threads. */

/** What a job gets besides its input. */
export interface WorkerContext {
  /** Reports a step of the job, and starts the time limit of a step anew. */
  readonly progress: (step: unknown) => void
  /** Asks the program, which answers by `WorkerTask.answer`. One question at a time; the time limits pause. */
  readonly ask: <Answer>(question: unknown) => Promise<Answer>
}

export interface WorkerOutput<A> {
  readonly value: A
  /** Buffers of `value` that are moved, not copied. */
  readonly transfer?: ReadonlyArray<ArrayBuffer>
  /** Whether the thread must not be used again: it crashed, or holds too much memory. */
  readonly retire?: boolean
}

/** A job is a function that a module exports. Errors that a caller handles are values. */
export type WorkerJob<Input, A> = (
  input: Input,
  context: WorkerContext
) => WorkerOutput<A> | Promise<WorkerOutput<A>>

export type ToWorker =
  | { readonly module: string; readonly job: string; readonly input: unknown }
  | { readonly answer: unknown }

export type FromWorker =
  | { readonly step: unknown }
  | { readonly question: unknown }
  | { readonly output: WorkerOutput<unknown> }
  | { readonly thrown: string; readonly code: string | undefined }
