/** Runs the jobs of `Html.ts` in the pool of threads. Importing their modules here would load them where they do not run. */
import { moduleBeside, runInWorker } from "@sluice/core/workers"
import { Effect } from "effect"
import type * as Jobs from "./Html.ts"
import { SourceFault } from "./SourceKind.ts"

const module = moduleBeside(import.meta.url, "./Html")

export const parseInPool = <Job extends keyof typeof Jobs>(
  url: string,
  job: Job,
  input: Parameters<(typeof Jobs)[Job]>[0]
) =>
  Effect.mapError(
    runInWorker<ReturnType<(typeof Jobs)[Job]>["value"]>({ module, job, input }),
    ({ message }) => new SourceFault({ message: `${url} could not be parsed: its thread ${message}` })
  )
