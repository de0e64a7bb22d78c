/**
 * Servers and workers on one PostgreSQL and one small S3 server, killed in turn under load: nothing is lost, nothing is there
 * twice, the ledger adds up, and readers are answered throughout.
 */
import * as Embedded from "@sluice/embedded"
import { Library } from "@sluice/rag"
import { Context, Effect, Exit, Layer, Redacted, Schema, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { Job } from "../../apps/demo-server/src/contract/Documents.ts"
import { CollectionInfo } from "../../apps/demo-server/src/contract/Collections.ts"
import { DocumentsPage } from "../../apps/demo-server/src/contract/Documents.ts"
import * as Postgres from "../../apps/demo-server/src/sql/Postgres.ts"
import type { Random } from "../../bench/corpus/Random.ts"
import { outOfBalance } from "../demo-server/Equation.ts"
import { cephVariables } from "../demo-server/Ceph.ts"
import { startPostgres } from "../demo-server/Postgres.ts"
import { dataFolder, startProcess } from "../demo-server/Process.ts"
import { s3Variables } from "../demo-server/SharedServers.ts"
import { must, type Trial } from "./Trial.ts"

const cli = fileURLToPath(new URL("../../apps/demo-server/src/cli/main.ts", import.meta.url))

const DOCUMENTS = "s3://bucket/sluice"
const WRITERS = 3
const READERS = 2

/** A job whose worker was killed is taken over after 30 seconds. */
const JOBS_END_MILLIS = 120_000

/** The stored recall of the index at least, once it is measured. */
const RECALL = 0.97

export interface ClusterSize {
  readonly servers: number
  readonly workers: number
  readonly kills: number
  /** Documents that are there before: from about a thousand on, the collection has a vector index. */
  readonly documents: number
  /** Default: the small S3 server in this process. */
  readonly store?: "ceph" | undefined
}

interface Member {
  readonly role: "server" | "worker"
  /** Of a server. Empty while it is dead. */
  url: string
  kill: () => Promise<void>
}

/** What the writers were told. */
interface Record {
  readonly committed: Set<string>
  readonly jobs: Map<string, ReadonlyArray<string>>
  /** Sent, and not answered because the server was killed. */
  readonly unknown: Set<string>
  answered: number
}

const textOf = (path: string) => `# ${path}\n\nThe toll of ${path.replace(".md", "")} is four crowns.`

/** Starts and kills the processes of a cluster. */
const makeMembers = async (scope: Scope.Scope, common: { readonly [name: string]: string }) => {
  const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
    Effect.runPromise(Scope.provide(effect, scope))
  const start = async (member: Member): Promise<string> => {
    const own = await Effect.runPromise(Scope.fork(scope))
    const isServer = member.role === "server"
    const env = { ...common, SLUICE_DATA: await run(dataFolder), SLUICE_JOBS: isServer ? "0" : "2" }
    const args = isServer ? {} : { args: ["--conditions=@sluice/source", cli, "worker"] }
    const child = await Effect.runPromise(Scope.provide(startProcess(env, args), own))
    const printed = await Effect.runPromise(child.printed(isServer ? "Reference" : "works on jobs"))
    member.url = /(http:\/\/\S+)\/#login/.exec(printed)?.[1] ?? ""
    member.kill = async () => {
      member.url = ""
      await Effect.runPromise(child.signal("SIGKILL"))
      await Effect.runPromise(child.ended)
      await Effect.runPromise(Scope.close(own, Exit.void))
    }
    return printed
  }
  return { start }
}

/** False too while no server answers. */
const hasEnded = (url: string, key: string, id: string) =>
  get(url, key, `/jobs/${id}`, Job).then(
    ({ status }) => status !== "queued" && status !== "running",
    () => false
  )

/** Uploads documents of its own until `isOver`, some of them as jobs. */
const writeOn = async (
  name: string,
  random: Random,
  live: () => string,
  key: string,
  record: Record,
  isOver: () => boolean
) => {
  for (let n = 0; !isOver(); n++) {
    const paths = [`${name}-${n}-a.md`, `${name}-${n}-b.md`]
    const body = new FormData()
    for (const path of paths) body.append("files", new Blob([textOf(path)]), path)
    const asJob = random.between(0, 1) === 1
    const headers = { authorization: `Bearer ${key}`, ...(asJob && { prefer: "respond-async" }) }
    try {
      const response = await fetch(`${live()}/documents`, { method: "POST", body, headers })
      const text = await response.text()
      if (response.status === 202) {
        const { id } = JSON.parse(text)
        record.jobs.set(id, paths)
        // One job a writer at a time.
        while (!isOver() && !(await hasEnded(live(), key, id))) await sleep(200)
      }
      if (response.status === 202) continue
      if (response.status === 200 && JSON.parse(text).failed.length === 0)
        for (const path of paths) record.committed.add(path)
      else for (const path of paths) record.unknown.add(path)
    } catch {
      for (const path of paths) record.unknown.add(path)
    }
  }
}

/** Asks until `isOver`. A reader tries another server when its own is killed; one of them answers. */
const readOn = async (live: () => string, key: string, record: Record, isOver: () => boolean) => {
  while (!isOver()) {
    const [path] = record.committed
    if (path === undefined) await sleep(50)
    else {
      let status = 0
      for (let attempt = 0; attempt < 5 && status !== 200; attempt++) {
        status = await fetch(`${live()}/retrieve`, {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ question: `What is the toll of ${path.replace(".md", "")}?` })
        }).then(
          async (response) => (await response.text(), response.status),
          () => 0
        )
      }
      must(status === 200 || isOver(), () => `no server answered a question (status ${status})`)
      record.answered++
    }
  }
}

const get = async <S extends Schema.ConstraintDecoder<unknown>>(
  url: string,
  key: string,
  path: string,
  schema: S
): Promise<S["Type"]> => {
  const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
  must(response.status === 200, () => `GET ${path}: ${response.status}`)
  return Schema.decodeUnknownSync(schema)(await response.json())
}

const Collections = Schema.Struct({ collections: Schema.Array(CollectionInfo) })

/** All paths, page by page. */
const pathsAt = async (url: string, key: string): Promise<ReadonlyArray<string>> => {
  const paths: Array<string> = []
  for (let after = ""; ;) {
    const query: string = after === "" ? "" : `?after=${encodeURIComponent(after)}`
    const page: DocumentsPage = await get(url, key, `/documents${query}`, DocumentsPage)
    paths.push(...page.documents.map(({ path }) => path))
    if (page.next === undefined) return paths
    after = page.next
  }
}

const jobsEnd = async (url: string, key: string, { committed, jobs }: Record) => {
  const until = Date.now() + JOBS_END_MILLIS
  for (const [id, paths] of jobs) {
    let job: Job = await get(url, key, `/jobs/${id}`, Job)
    while (job.status === "queued" || job.status === "running") {
      must(Date.now() < until, () => `job ${id} is still ${job.status}: ${JSON.stringify(job)}`)
      await sleep(200)
      job = await get(url, key, `/jobs/${id}`, Job)
    }
    must(job.status === "completed", () => `job ${id}: ${JSON.stringify(job)}`)
    for (const path of paths) committed.add(path)
  }
}

const checkDocuments = async (
  members: ReadonlyArray<Member>,
  key: string,
  { committed, unknown }: Record
) => {
  for (const { role, url } of members) {
    if (role === "worker") continue
    const paths = await pathsAt(url, key)
    const found = new Set(paths)
    must(found.size === paths.length, () => `${paths.length - found.size} documents are listed twice`)
    const lost = [...committed].filter((path) => !found.has(path))
    must(lost.length === 0, () => `${lost.length} acknowledged documents are lost: ${lost.slice(0, 5)}`)
    const extra = paths.filter((path) => !committed.has(path) && !unknown.has(path))
    must(extra.length === 0, () => `nobody sent ${extra.slice(0, 5)}`)
    const { collections } = await get(url, key, "/collections", Collections)
    // Each document has one passage.
    must(
      collections[0]?.passages === paths.length,
      () => `${paths.length} documents have ${collections[0]?.passages} passages`
    )
  }
}

const checkLedger = (database: string) =>
  Effect.gen(function* () {
    const sql = Context.get(yield* Layer.build(Postgres.layer(Redacted.make(database))), SqlClient.SqlClient)
    const wrong = yield* Effect.provideService(outOfBalance, SqlClient.SqlClient, sql)
    must(wrong.length === 0, () => `it does not add up: ${JSON.stringify(wrong)}`)
  }).pipe(Effect.scoped, Effect.runPromise)

const checkRecall = (variables: { readonly [name: string]: string }) =>
  Effect.gen(function* () {
    const { index } = yield* (yield* Library.open(`${DOCUMENTS}/library`, {
      storageOptions: {
        aws_access_key_id: "test",
        aws_secret_access_key: "test",
        aws_region: "us-east-1",
        aws_endpoint: variables["AWS_ENDPOINT"] ?? "",
        allow_http: "true"
      }
    })).stats
    const { recall } = index
    must(recall === undefined || recall >= RECALL, () => `the stored recall is ${recall}`)
  }).pipe(Effect.scoped, Effect.provide(Embedded.layer), Effect.runPromise)

/** Documents that are there before the load. */
const seed = async (url: string, key: string, count: number, record: Record) => {
  const body = new FormData()
  for (let n = 0; n < count; n++) {
    record.committed.add(`seed-${n}.md`)
    body.append("files", new Blob([textOf(`seed-${n}.md`)]), `seed-${n}.md`)
  }
  const headers = { authorization: `Bearer ${key}` }
  const response = await fetch(`${url}/documents`, { method: "POST", body, headers })
  must(response.status === 200, () => `the first upload: ${response.status}`)
}

/** One round: starts the cluster, kills members under load, and checks what is left. */
export const cluster =
  (size: ClusterSize): Trial =>
  async (random) => {
    const scope = Scope.makeUnsafe()
    const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
      Effect.runPromise(Scope.provide(effect, scope))
    try {
      const database = await run(Effect.flatMap(startPostgres, (postgres) => postgres.database))
      const variables: { readonly [name: string]: string } =
        size.store === "ceph" ? await run(cephVariables) : (await run(s3Variables)).variables
      const common = { ...variables, SLUICE_DATABASE_URL: database, SLUICE_DOCUMENTS: DOCUMENTS }
      const { start } = await makeMembers(scope, common)
      const members = [
        ...Array.from({ length: size.servers }, () => "server" as const),
        ...Array.from({ length: size.workers }, () => "worker" as const)
      ].map((role): Member => ({ role, url: "", kill: async () => {} }))
      let key = ""
      for (const member of members) key = /API key +(sk-\w+)/.exec(await start(member))?.[1] ?? key
      const live = () => {
        const [first, ...others] = members.filter(({ url }) => url !== "")
        return first === undefined ? "" : random.pick([first, ...others]).url
      }
      const record: Record = { committed: new Set(), jobs: new Map(), unknown: new Set(), answered: 0 }
      await seed(live(), key, size.documents, record)

      let over = false
      const isOver = () => over
      const load = [
        ...Array.from({ length: WRITERS }, (_, n) => writeOn(`w${n}`, random, live, key, record, isOver)),
        ...Array.from({ length: READERS }, () => readOn(live, key, record, isOver))
      ]
      const killAll = async () => {
        for (let kill = 0; kill < size.kills; kill++) {
          await sleep(random.between(500, 2000))
          const victim = members[kill % members.length]!
          await victim.kill()
          await sleep(random.between(0, 500))
          await start(victim)
        }
        await sleep(1000)
        over = true
      }
      await Promise.all([killAll(), ...load]).finally(() => (over = true))
      must(record.answered > 0, () => "no question was answered")
      await jobsEnd(live(), key, record)
      await checkDocuments(members, key, record)
      await checkLedger(database)
      await checkRecall(variables)
      console.log(
        `  ${record.committed.size} documents, ${record.jobs.size} jobs, ${record.unknown.size} unknown, ${record.answered} questions, ${size.kills} kills`
      )
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  }
