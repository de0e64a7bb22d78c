/** The caller's jobs: list, progress, cancel. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { HttpServerResponse } from "effect/http"
import { CurrentUser } from "../contract/Access.ts"
import type { Job } from "../contract/Documents.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { Jobs } from "./Jobs.ts"

/** The response to a request that became a job. */
export const acceptedJob = (job: Job) =>
  HttpServerResponse.jsonUnsafe(job, { status: 202, headers: { location: `/jobs/${job.id}` } })

/** After how many seconds the caller prefers a job: `Prefer: respond-async, wait=2` of RFC 7240. Undefined: never. */
export const jobAfter = ({ prefer = "" }: { readonly prefer?: string }): number | undefined => {
  const preferences = prefer.split(",").map((one) => one.trim().toLowerCase())
  if (!preferences.includes("respond-async")) return undefined
  const wait = preferences.find((one) => one.startsWith("wait="))
  return Math.max(0, Number(wait?.slice("wait=".length)) || 0)
}

export const JobsLayer = HttpApiBuilder.group(
  ServedApi,
  "jobs",
  Effect.fn(function* (handlers) {
    const jobs = yield* Jobs
    const ofCaller = <A, E, R>(use: (user: string) => Effect.Effect<A, E, R>) =>
      Effect.flatMap(CurrentUser, ({ user }) => use(user))
    return handlers.handleAll({
      jobs: Effect.fn("jobs.list")(() => Effect.map(ofCaller(jobs.list), (jobs) => ({ jobs }))),
      job: Effect.fn("jobs.get")(({ params: { id } }) => ofCaller((user) => jobs.find(id, user))),
      cancel: Effect.fn("jobs.cancel")(({ params: { id } }) => ofCaller((user) => jobs.cancel(id, user)))
    })
  })
)
