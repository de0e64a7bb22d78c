/** Documents: list, add, read, remove. */
import { Failure } from "@sluice/core/contract"
import { RagError } from "@sluice/rag"
import { DocumentFormats } from "@sluice/rag/formats"
import { AdmitParsed } from "@sluice/rag/store"
import { Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import type { DocumentText } from "../contract/Document.ts"
import { MAX_LISTED } from "../contract/Documents.ts"
import type { FailedFile } from "../contract/Documents.ts"
import { DEFAULT_COLLECTION } from "../contract/Names.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { acceptedJob, jobAfter } from "../jobs/JobRoutes.ts"
import { Jobs } from "../jobs/Jobs.ts"
import { fileHeaders } from "./FileHeaders.ts"
import { toReportBody, toStreamEvents } from "../libraries/IngestBody.ts"
import { documentPage } from "./DocumentPage.ts"
import { makeCallerDocuments } from "./CallerDocuments.ts"
import { PageImages } from "./PageImages.ts"
import { endWithError, wantsEvents, withRagFailures } from "../libraries/RagFailure.ts"
import { jsonInPortions } from "../wire/JsonPortions.ts"
import { slowFilesAsJobs } from "./SlowFiles.ts"
import { uploadedFiles } from "./Upload.ts"
import { makeStorageOf } from "../jobs/Storage.ts"

const noFile = new RagError({
  stage: "ingest",
  reason: "Empty",
  message:
    "The upload has no file. Send multipart/form-data with one part for each file and its path as the filename"
})

/** Reasons for status 413. */
const TOO_LARGE = new Set(["too_large", "storage_full"])

const rejectedUpload = ({ message, path, reason }: FailedFile) =>
  new Failure({ status: TOO_LARGE.has(reason) ? 413 : 422, message, code: reason, param: path })

/** An upload of this size takes minutes: it becomes a job. */
const LARGE_BYTES = 256 * 1024 * 1024

/** So much is held in memory until it is known which files take long. Larger uploads become a job at once. */
const HELD_BYTES = 80 * 1024 * 1024

export const DocumentsLayer = HttpApiBuilder.group(
  ServedApi,
  "documents",
  Effect.fn(function* (handlers) {
    const images = yield* PageImages
    const formats = yield* DocumentFormats
    const callerDocuments = yield* makeCallerDocuments
    const jobs = yield* Jobs
    const storageOf = yield* makeStorageOf

    return handlers.handleAll({
      list: Effect.fn("documents.list")(function* ({ query }) {
        const { documents } = yield* callerDocuments.library(query)
        return documentPage(yield* documents, { ...query, limit: query.limit ?? MAX_LISTED })
      }, withRagFailures),
      add: Effect.fn("documents.add")(function* ({ headers, payload, query }) {
        const { ingest, ingestEvents, owner } = yield* callerDocuments.writable(query, true)
        const rejected: Array<FailedFile> = []
        const storage = yield* storageOf(owner)
        const files = uploadedFiles(payload, (file) => rejected.push(file), storage)
        const collection = query.collection ?? DEFAULT_COLLECTION
        const submit = (uploads: typeof files) => jobs.upload(collection, owner, uploads)
        const after = jobAfter(headers)
        // NaN without the header.
        const bytes = Number(headers["content-length"])
        const waits = after !== undefined && after > 0 && bytes <= HELD_BYTES
        if (wantsEvents(headers) && (after === undefined || waits)) {
          const eventsOf = (uploads: typeof files) =>
            Stream.flatMap(ingestEvents({ files: uploads }), (event) =>
              Stream.fromIterable(toStreamEvents(event, rejected))
            )
          const events = waits
            ? slowFilesAsJobs(files, { after, eventsOf, rejected, submit })
            : eventsOf(files)
          return events.pipe(
            Stream.provideService(AdmitParsed, storage.admit),
            Stream.ensuring(storage.release),
            endWithError
          )
        }
        if (after !== undefined || bytes >= LARGE_BYTES) {
          const job = yield* submit(files).pipe(Effect.ensuring(storage.release))
          if (job !== undefined) return acceptedJob(job)
          const [first] = rejected
          return yield* first === undefined ? noFile : rejectedUpload(first)
        }
        const ingested = yield* ingest({ files }).pipe(
          Effect.provideService(AdmitParsed, storage.admit),
          Effect.ensuring(storage.release)
        )
        const report = toReportBody(ingested, rejected)
        const { added, replaced, unchanged, failed } = report
        if (added + replaced + unchanged > 0) return report
        if (failed.length === 0) return yield* noFile
        // Not caused by the files: the balance is used up, or the gateway failed.
        const modelFailure = ingested.failed.find(({ error }) => error.reason === "Model")
        if (modelFailure !== undefined) return yield* modelFailure.error
        const [first] = failed
        if (first !== undefined && failed.every(({ reason }) => TOO_LARGE.has(reason))) {
          return yield* rejectedUpload(first)
        }
        return report
      }, withRagFailures),
      get: Effect.fn("documents.get")(function* ({ params, query }) {
        const { info, parsed } = yield* callerDocuments.document(params.id, query)
        const { blocks, pages, text } = parsed
        return yield* jsonInPortions({ document: info, text, blocks, pages } satisfies DocumentText)
      }, withRagFailures),
      remove: Effect.fn("documents.remove")(function* ({ params, query }) {
        const { sha256 } = yield* callerDocuments.remove(params.id, query)
        yield* images.remove(sha256)
      }, withRagFailures),
      page: Effect.fn("documents.page")(function* ({ params, query }) {
        const { page, parsed } = yield* callerDocuments.page(params.id, params.number, query)
        return {
          ...page,
          text: parsed.text.slice(page.start, page.end),
          lines: parsed.lines.filter((line) => line.page === page.number)
        }
      }, withRagFailures),
      file: Effect.fn("documents.file")(function* ({ params, query }) {
        const { file } = yield* callerDocuments.library(query)
        const { bytes, info } = yield* file(params.id)
        return HttpServerResponse.uint8Array(bytes, { headers: fileHeaders(info, formats) })
      }, withRagFailures)
    })
  })
)
