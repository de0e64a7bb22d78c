/** Sources: places whose documents a collection follows, and records that programs push. */
import { between, field } from "@sluice/core/contract"
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Access } from "./Access.ts"
import { MetadataSchema } from "./Document.ts"
import { collectionQuery, FailedFile, IngestReportBody } from "./Documents.ts"
import { CollectionName, CollectionReference, DEFAULT_COLLECTION, noControls } from "./Names.ts"

const { optionalKey } = Schema

/** Records of one request at most. */
const MAX_RECORDS = 1_000

/** Changes that are listed of a run. */
export const MAX_CHANGES = 100

const line = (maximum: number) =>
  Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(maximum), noControls)

/** When a source is read again. */
export const SourceSchedule = Schema.Union([
  Schema.Struct({
    every: field("Minutes between two runs: a month at most.", between(1, 44_640))
  }),
  Schema.Struct({
    cron: field("Minute, hour, day, month and weekday, as cron has them: `30 6 * * 1-5`.", line(100)),
    zone: field("The time zone, such as `Europe/Paris`.", optionalKey(line(64)), "UTC")
  })
])
export type SourceSchedule = typeof SourceSchedule.Type

/** `stopped`: who added it may not any more. */
const SourceState = Schema.Literals(["waiting", "running", "done", "failed", "paused", "stopped"])

export const SourceChange = Schema.Struct({
  path: field("The document.", Schema.String),
  status: field("What happened to it.", Schema.Literals(["added", "replaced", "removed"]))
})
export type SourceChange = typeof SourceChange.Type

export const SourceInfo = Schema.Struct({
  id: field("The source's id.", Schema.String),
  name: field("Its name. The paths of its documents begin with it.", Schema.String),
  kind: field("Its kind.", Schema.String),
  address: field("The folder, or the URL.", Schema.String),
  collection: field("The collection that follows it.", Schema.String),
  schedule: field("When it is read again. Absent: only on request.", optionalKey(SourceSchedule)),
  hasCredential: field("Whether it has a credential. Credentials are never returned.", Schema.Boolean),
  state: field(
    "`waiting` for a run, `running`, how the last run ended, `paused`, or `stopped` because who added it may not any more.",
    SourceState
  ),
  message: field("Why the last run failed, or why the source stopped.", optionalKey(Schema.String)),
  job: field("The job of the last run, for `GET /jobs/{id}`.", optionalKey(Schema.String)),
  done: field("Documents that the last run has processed so far.", optionalKey(Schema.Int)),
  report: field("The counts of the last complete run, with what failed.", optionalKey(IngestReportBody)),
  changes: field("What the last run changed: the first hundred.", Schema.Array(SourceChange)),
  failed: field("What the last run and the changes since could not read.", Schema.Array(FailedFile)),
  lastRun: field("When the last run began or was asked for, in ms since 1970.", optionalKey(Schema.Int)),
  nextRun: field("When it runs next, in ms since 1970.", optionalKey(Schema.Int))
})
export type SourceInfo = typeof SourceInfo.Type

/** The sources that the caller may manage, and the kinds that there are. */
export const SourceList = Schema.Struct({
  sources: field("By collection and name.", Schema.Array(SourceInfo)),
  kinds: field(
    "The kinds that the caller may add.",
    Schema.Array(
      Schema.Struct({
        id: field("The identifier.", Schema.String),
        label: field("The name that people see.", Schema.String),
        example: field("An example of an address.", Schema.String)
      })
    )
  )
})
export type SourceList = typeof SourceList.Type

const settings = {
  schedule: field(
    "When it is read again. Null or absent: only on request.",
    optionalKey(Schema.NullOr(SourceSchedule))
  ),
  credential: field(
    "`user:password`, a token of a repository, or `accessKeyId:secretAccessKey`. Kept in a file that only the server reads.",
    optionalKey(line(8_192))
  ),
  credentialVariable: field(
    "For administrators: an environment variable of the server that has the credential. Its name begins with `SLUICE_SOURCE_CREDENTIAL_`.",
    optionalKey(Schema.String.check(Schema.isPattern(/^SLUICE_SOURCE_CREDENTIAL_[A-Z0-9_]{1,64}$/)))
  )
}

export const NewSource = Schema.Struct({
  address: field("A URL, or a folder that the operator allows.", line(2_000)),
  kind: field("Its kind. By default, the address tells.", optionalKey(line(64))),
  name: field("Its name. By default, from the address.", optionalKey(CollectionName)),
  collection: field(
    "The collection; made if it is missing.",
    optionalKey(CollectionReference),
    DEFAULT_COLLECTION
  ),
  ...settings
})

/** What is absent stays as it is. */
const ChangedSource = Schema.Struct({
  paused: field(
    "Whether the schedule is paused. False also starts a stopped source again.",
    optionalKey(Schema.Boolean)
  ),
  ...settings
})

const recordText = Schema.String.check(Schema.isMaxLength(2_000_000))

const PushedRecord = Schema.Struct({
  id: field("Identifies the document: its path.", line(1_024)),
  title: field("The title.", optionalKey(Schema.String)),
  text: field("The text. A record has this or `passages`.", optionalKey(recordText)),
  format: field(
    "How the text is written.",
    optionalKey(Schema.Literals(["text", "markdown", "html"])),
    "text"
  ),
  passages: field(
    "Passages that are not cut any further.",
    optionalKey(
      Schema.Array(
        Schema.Struct({
          text: field("The passage.", recordText),
          headings: field("The headings above it, outermost first.", optionalKey(Schema.Array(Schema.String)))
        })
      )
    )
  ),
  url: field("Where people find it.", optionalKey(Schema.String)),
  metadata: field("To filter by. Absent: it keeps what it has.", optionalKey(MetadataSchema))
})

const PushedRecords = Schema.Struct({
  records: field(
    "Documents to add or to replace, 1,000 at most.",
    optionalKey(Schema.Array(PushedRecord).check(Schema.isMaxLength(MAX_RECORDS)))
  ),
  removed: field(
    "Ids of records to remove, 1,000 at most.",
    optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(MAX_RECORDS)))
  )
})
export type PushedRecords = typeof PushedRecords.Type

const params = { id: field("The source's id.", Schema.String.check(Schema.isMaxLength(100), noControls)) }
const strict = { onExcessProperty: "error" } as const

export class SourcesGroup extends HttpApiGroup.make("sources")
  .add(
    /** The sources that you added, and all of your own collections. An API key sees those that it added. */
    HttpApiEndpoint.get("sources", "/sources", {
      query: { collection: field("Only those of this collection.", optionalKey(CollectionReference)) },
      success: SourceList
    }),
    /**
     * Adds a source and reads it. Each run has the rights of the user, and of the API key, that added it, as they are then, and is
     * charged to them. Folders are for administrators.
     */
    HttpApiEndpoint.post("addSource", "/sources", { payload: NewSource, success: SourceInfo }),
    /** Changes the schedule or the credential, pauses, or starts again. */
    HttpApiEndpoint.put("changeSource", "/sources/:id", {
      params,
      payload: ChangedSource,
      success: SourceInfo
    }),
    /** Reads a source now, or right after the run that it has. */
    HttpApiEndpoint.post("runSource", "/sources/:id/run", { params, success: SourceInfo }),
    /** Removes a source and its documents. */
    HttpApiEndpoint.delete("removeSource", "/sources/:id", { params }),
    /** Adds, replaces and removes documents that a program has as text: of a wiki, a ticket system, a database. */
    HttpApiEndpoint.post("pushRecords", "/records", {
      query: collectionQuery,
      payload: PushedRecords,
      success: IngestReportBody
    })
  )
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotate(HttpApi.PayloadParseOptions, strict)
  .middleware(Access) {}
