/** The server's status: its models, document counts, whether it can answer; and jobs. */
import { field, formatQuota, quota } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Access } from "./Access.ts"
import { IngestStreamEvent, Job } from "./Documents.ts"

const { optionalKey } = Schema

/**
 * - `ready`: questions are answered
 * - `filling`: the samples are being added at the first start; questions are answered from the samples added so far
 * - `rebuild-needed`: the library was built with another model; until `POST /rebuild`, `/qa` answers with that model if it was
 *   changed while the server ran, less than a day ago, and returns 409 otherwise
 * - `rebuilding`: a rebuild is running; the old library stays in place until it is done
 * - `unavailable`: the embedding gateway cannot be reached; each request tries again
 * - `damaged`: a file of the library is damaged or lost; `message` says what to do
 */
export const State = Schema.Literals([
  "ready",
  "filling",
  "rebuild-needed",
  "rebuilding",
  "unavailable",
  "damaged"
])

export const ServerStatus = Schema.Struct({
  version: field("The version of the server.", Schema.String),
  provider: field("Where the models of the library run.", Schema.Literals(["embedded", "gateway"])),
  demo: field(
    "Whether balances are demo credit: all models run in the server, embedded or local. `models` names them.",
    Schema.Boolean
  ),
  models: field(
    "The models of the library.",
    Schema.Struct({
      embedding: field("The model of the vectors.", Schema.String),
      rerank: field("The model that reranks.", Schema.String),
      chat: field("The model that answers.", Schema.String),
      vision: field("The model that looks at figures.", optionalKey(Schema.String))
    })
  ),
  formats: field(
    "What can be added to the library.",
    Schema.Array(
      Schema.Struct({
        id: field("The identifier of the format.", Schema.String),
        label: field("The name shown to people.", Schema.String),
        extensions: field("The extensions of its files.", Schema.Array(Schema.String))
      })
    )
  ),
  documents: field("Documents of the caller. Absent without a credential.", optionalKey(Schema.Int)),
  passages: field("The number of passages, as `documents`.", optionalKey(Schema.Int)),
  storage: field(
    "The storage of the caller. Absent as `documents`.",
    optionalKey(
      Schema.Struct({
        used: field("The bytes that documents and stored responses have.", Schema.Int),
        limit: field("The bytes that they may have.", Schema.Int)
      })
    )
  ),
  signIn: field(
    "The provider of OpenID Connect, if there is one.",
    optionalKey(
      Schema.Struct({
        name: field("The provider's name.", Schema.String),
        path: field("Where sign-in begins.", Schema.String)
      })
    )
  ),
  state: field("Whether questions are answered.", State),
  message: field("Advice, if there is something to do.", optionalKey(Schema.String)),
  questions: field("Starter questions about the samples; empty without samples.", Schema.Array(Schema.String))
})
export type ServerStatus = typeof ServerStatus.Type

const Tokens = Schema.Struct({
  estimated: field("As common vocabularies count.", Schema.Int),
  atMost: field("The number of bytes.", Schema.Int)
})

const Cost = Schema.Struct({
  estimated: field("In quota units.", Schema.Int),
  atMost: field("In quota units.", Schema.Int)
})

export const RebuildPlanBody = Schema.Struct({
  documents: field("The documents that are read again.", Schema.Int),
  passages: field("Their passages.", Schema.Int),
  texts: field("The texts to embed.", Schema.Int),
  cached: field("The texts whose vectors are stored already.", Schema.Int),
  calls: field("Calls of the embedding model.", Schema.Int),
  tokens: field("The tokens of the texts to embed.", Tokens),
  free: field("Whether the embedding model runs in the server: no vendor is paid.", Schema.Boolean),
  cost: field("What the caller is charged. Absent without a price.", optionalKey(Cost)),
  seconds: field(
    "How long the embedding takes, at the measured speed of the model. Absent if it has not been used yet.",
    optionalKey(Schema.Finite)
  )
})
export type RebuildPlanBody = typeof RebuildPlanBody.Type

const timeText = (seconds: number): string =>
  seconds < 1
    ? "less than a second"
    : seconds < 100
      ? `about ${Math.round(seconds)} s`
      : seconds < 6_000
        ? `about ${Math.round(seconds / 60)} min`
        : `about ${Math.round(seconds / 3_600)} h`

/** `about $0.02, at most $0.05; about 3 min`: what a plan costs and how long its embedding takes. */
export const costAndTime = ({
  cost,
  free,
  seconds
}: Pick<RebuildPlanBody, "cost" | "free" | "seconds">): string => {
  const [estimated, atMost] = [cost?.estimated ?? 0, cost?.atMost ?? 0].map((units) =>
    formatQuota(quota(units))
  )
  const charged = (cost?.estimated ?? 0) > 0 ? ` (${estimated} of demo credit)` : ""
  const unpriced = cost === undefined ? "without a price" : `about ${estimated}, at most ${atMost}`
  const time = seconds === undefined ? "time unknown until the model has been used" : timeText(seconds)
  return `${free ? `free${charged}` : unpriced}; ${time}`
}

export class StatusGroup extends HttpApiGroup.make("status").add(
  /** Needs no credential: without one, the response has only the state, the formats and the names of the models. */
  HttpApiEndpoint.get("status", "/status", { success: ServerStatus }),
  /**
   * What `POST /rebuild` would embed and cost, and how long the embedding would take. Counts the passages that are stored.
   * Free; a model of the server embeds a few passages to be timed.
   */
  HttpApiEndpoint.get("planRebuild", "/rebuild", { success: RebuildPlanBody }).middleware(Access),
  /**
   * Reads every document again with the current models. Server-sent events, `done` last; with `Prefer: respond-async`,
   * 202 with a [job](#get-jobs-id).
   */
  HttpApiEndpoint.post("rebuild", "/rebuild", {
    headers: { prefer: field("`respond-async` for a job.", optionalKey(Schema.String)) },
    success: [Job.pipe(HttpApiSchema.status(202)), HttpApiSchema.StreamSse({ data: IngestStreamEvent })]
  }).middleware(Access)
) {}

const params = { id: field("The job's id.", Schema.String) }

export class JobsGroup extends HttpApiGroup.make("jobs")
  .add(
    /** The caller's jobs of the last seven days, newest first, at most 100. */
    HttpApiEndpoint.get("jobs", "/jobs", {
      success: Schema.Struct({ jobs: field("The jobs, newest first.", Schema.Array(Job)) })
    }),
    /** A job of the caller, with its progress. */
    HttpApiEndpoint.get("job", "/jobs/:id", { params, success: Job }),
    /**
     * Cancels a job. Documents that are on disk stay. A running job ends within seconds; one that has ended is returned as
     * it is.
     */
    HttpApiEndpoint.delete("cancel", "/jobs/:id", { params, success: Job })
  )
  .middleware(Access) {}
