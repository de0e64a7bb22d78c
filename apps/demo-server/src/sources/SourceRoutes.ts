/** The endpoints of sources and of records. */
import { Failure } from "@sluice/core/contract"
import { RagError } from "@sluice/rag"
import { Clock, Effect, Stream } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomUUID } from "node:crypto"
import { CurrentCaller } from "../accounts/Caller.ts"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION, parseReference } from "../contract/Names.ts"
import { ServedApi } from "../http/ServedApi.ts"
import { makeCallerDocuments, notFound } from "../documents/CallerDocuments.ts"
import { toJobCaller } from "../jobs/JobCaller.ts"
import { makeOpenForUser } from "../libraries/OpenForUser.ts"
import { withRagFailures } from "../libraries/RagFailure.ts"
import { sourceKind, sourceKinds, unknownKind } from "./kinds/SourceKinds.ts"
import { IN_FILE } from "./SourceCredentials.ts"
import { makePushRecords } from "./PushRecords.ts"
import { sourceNameOf } from "./SourceName.ts"
import { administratorNeeded, FOLDER } from "./SourceReading.ts"
import { checkSchedule, nextRun } from "./SourceSchedule.ts"
import { Sources } from "./Sources.ts"
import { collectionOf, type StoredSource, toInfo } from "./SourceStore.ts"

/** Sources of a user. */
const MAX_SOURCES = 100

const invalid = (param: string, message: string) =>
  new Failure({ status: 400, message, code: "invalid_value", param })
const conflict = (code: string, message: string) => new Failure({ status: 409, message, code, param: "name" })

const withCredentials = invalid(
  "address",
  "An address has no user and no password: they would be shown. Send them as `credential`"
)
const noFolders = administratorNeeded(
  "Folders are for administrators, below the folders that the operator names in SLUICE_SOURCE_FOLDERS"
)
const noVariables = administratorNeeded(
  "Only administrators may name environment variables. Send the credential itself"
)

interface GivenCredential {
  readonly credential?: string | undefined
  readonly credentialVariable?: string | undefined
}

/** What the caller may see, change and add. */
const makeChecks = Effect.gen(function* () {
  const { reading, store } = yield* Sources
  /** Whether the caller may see and change a source: who added it, or the owner of its collection. A key: what it added. */
  const isManaged = Effect.fnUntraced(function* () {
    const { user } = yield* CurrentUser
    const { key } = yield* CurrentCaller
    return (row: StoredSource) =>
      key === undefined
        ? row.user_id === user || row.owner_id === user
        : row.user_id === user && row.caller.key === key
  })
  const managed = Effect.fnUntraced(function* (id: string) {
    const row = yield* store.get(id)
    if (row !== undefined && (yield* isManaged())(row)) return row
    return yield* notFound(`There is no source ${id}. GET /sources lists them`, "id")
  })
  const info = Effect.fnUntraced(function* (id: string) {
    const { user } = yield* CurrentUser
    return toInfo(yield* managed(id), user, yield* Clock.currentTimeMillis)
  })
  /** Checks a given credential. Undefined: none is given. */
  const credentialKind = Effect.fnUntraced(function* ({ credential, credentialVariable }: GivenCredential) {
    if (credential !== undefined && credentialVariable !== undefined)
      return yield* invalid("credential", "Send `credential` or `credentialVariable`, not both")
    if (credentialVariable !== undefined && (yield* CurrentUser).role !== "admin") return yield* noVariables
    return credential === undefined ? credentialVariable : IN_FILE
  })
  /** The kind of an address that the caller may add. */
  const checkAddress = Effect.fnUntraced(function* (address: string, kindId: string | undefined) {
    const kind = sourceKind(address, kindId)
    if (kind === undefined)
      return yield* invalid(kindId === undefined ? "address" : "kind", unknownKind(address, kindId))
    const url = URL.parse(address)
    if (url !== null && (url.username !== "" || url.password !== "")) return yield* withCredentials
    const mayRead = (yield* CurrentUser).role === "admin" && reading.folders.length > 0
    return kind.id !== FOLDER || mayRead ? kind : yield* noFolders
  })
  return { checkAddress, credentialKind, info, isManaged, managed }
})

export const SourcesLayer = HttpApiBuilder.group(
  ServedApi,
  "sources",
  Effect.fn(function* (handlers) {
    const { look, reading, store } = yield* Sources
    const { checkAddress, credentialKind, info, isManaged, managed } = yield* makeChecks
    const callerDocuments = yield* makeCallerDocuments
    const openForUser = yield* makeOpenForUser
    const pushRecords = yield* makePushRecords
    const { credentials, folders } = reading

    return handlers.handleAll({
      sources: Effect.fn("sources.list")(function* ({ query: { collection } }) {
        const { role, user } = yield* CurrentUser
        const now = yield* Clock.currentTimeMillis
        const rows = (yield* store.of(user)).filter(yield* isManaged())
        const shown = rows.filter((row) => collection === undefined || collectionOf(row, user) === collection)
        const mayRead = role === "admin" && folders.length > 0
        const kinds = sourceKinds.filter(({ id }) => mayRead || id !== FOLDER)
        return {
          sources: shown.map((row) => toInfo(row, user, now)),
          kinds: kinds.map(({ example, id, label }) => ({ id, label, example }))
        }
      }, withRagFailures),
      addSource: Effect.fn("sources.add")(function* ({ payload }) {
        const { address, collection = DEFAULT_COLLECTION, kind: kindId, schedule = null } = payload
        const { user } = yield* CurrentUser
        const kind = yield* checkAddress(address, kindId)
        yield* checkSchedule(schedule)
        const credential = (yield* credentialKind(payload)) ?? null
        if ((yield* store.of(user)).filter((row) => row.user_id === user).length >= MAX_SOURCES)
          return yield* conflict("too_many", `You have ${MAX_SOURCES} sources. Remove some`)
        yield* callerDocuments.writable({ collection }, true)
        const { name: collectionName, owner = user } = parseReference(collection)
        const id = randomUUID()
        const name = payload.name ?? sourceNameOf(address, kind.id)
        if (payload.credential !== undefined) yield* credentials.put(id, payload.credential)
        const isAdded = yield* store.add({
          id,
          user_id: user,
          owner_id: owner,
          collection: collectionName,
          name,
          kind: kind.id,
          address,
          caller: toJobCaller(yield* CurrentCaller),
          schedule,
          credential
        })
        if (!isAdded) {
          yield* credentials.remove(id)
          return yield* conflict("already_exists", `The collection has a source ${name}. Give another name`)
        }
        yield* look
        return yield* info(id)
      }, withRagFailures),
      changeSource: Effect.fn("sources.change")(function* ({ params: { id }, payload }) {
        const row = yield* managed(id)
        const schedule = payload.schedule === undefined ? row.schedule : payload.schedule
        yield* checkSchedule(schedule)
        const credential = (yield* credentialKind(payload)) ?? row.credential
        // A folder or a bucket of one user must not be read with the rights that another one adds to it.
        if (credential !== row.credential && row.user_id !== (yield* CurrentUser).user)
          return yield* invalid("credential", "Only who added a source may change its credential")
        if (payload.credential !== undefined) yield* credentials.put(id, payload.credential)
        const paused = payload.paused === undefined ? row.paused : Number(payload.paused)
        const next_run = paused === 1 ? null : nextRun(schedule, yield* Clock.currentTimeMillis)
        yield* store.change(id, { credential, next_run, paused, schedule })
        yield* look
        return yield* info(id)
      }, withRagFailures),
      runSource: Effect.fn("sources.run")(function* ({ params }) {
        const { id } = yield* managed(params.id)
        yield* store.runNow(id)
        yield* look
        return yield* info(id)
      }, withRagFailures),
      removeSource: Effect.fn("sources.remove")(function* ({ params }) {
        const row = yield* managed(params.id)
        yield* store.remove(row.id)
        yield* store.cancelJobs(row.id)
        yield* credentials.remove(row.id)
        const { user } = yield* CurrentUser
        // Without the right to write there, the documents stay: they are the owner's.
        const library = yield* openForUser(user, collectionOf(row, user), "write").pipe(
          Effect.flatMap((open) => open.library),
          Effect.catchIf(
            (error) => (error instanceof RagError ? error.reason === "NotFound" : error.status === 403),
            () => Effect.undefined
          )
        )
        yield* library?.sync(row.id, Stream.empty) ?? Effect.void
      }, withRagFailures),
      pushRecords: Effect.fn("sources.push")(pushRecords, withRagFailures)
    })
  })
)
