/** Runs the jobs of a summary in the pool of threads. */
import type { CitedSentence } from "@sluice/core/models"
import { moduleBeside, runInWorker } from "@sluice/core/workers"
import { Effect } from "effect"
import { RagError } from "../document/RagError.ts"
import type { SelectedText, TextsToExtract, TextsToSelect } from "./SummaryJobs.ts"

const module = moduleBeside(import.meta.url, "./SummaryJobs")

const run = <A>(job: "selectJob" | "extractJob", input: unknown): Effect.Effect<A, RagError> =>
  runInWorker<A>({ module, job, input }).pipe(
    Effect.mapError(({ message }) => {
      const advice = "Use a filter, so that fewer passages match"
      return new RagError({
        stage: "answer",
        reason: "TooLarge",
        message: `The summary ${message}. ${advice}`
      })
    })
  )

export const selectTexts = (input: TextsToSelect) => run<ReadonlyArray<SelectedText>>("selectJob", input)

export const extract = (input: TextsToExtract) => run<ReadonlyArray<CitedSentence>>("extractJob", input)
