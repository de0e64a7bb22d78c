/** Environment variables for operating the server: shutdown, hosts, logs, metrics, traces. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { Effect, Redacted } from "effect"
import { parseSubnet, type Subnet } from "../network/IpAddress.ts"
import { oneOf, parsedVariable, parsedSecret, textVariable, urlVariable, wholeNumber } from "./Variables.ts"

/** Characters of `SLUICE_METRICS_TOKEN` at least. */
const MIN_TOKEN_LENGTH = 16

const secondsVariable = (name: string, otherwise: number) =>
  parsedVariable(
    name,
    "be a number of seconds above 0 and at most 3600",
    (text) => (Number(text) > 0 && Number(text) <= 3600 ? Number(text) : undefined),
    otherwise
  )

/** Questions that run at the same time unless `SLUICE_QUESTIONS` says otherwise. */
const QUESTIONS = 128

/** Jobs that run at the same time unless `SLUICE_JOBS` says otherwise. */
const JOBS = 2

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$/

const parseHosts = (text: string): ReadonlyArray<string> | undefined => {
  const hosts = text
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((host) => host !== "")
  return hosts.every((host) => HOST.test(host)) ? hosts : undefined
}

const NO_SUBNET: Subnet = () => false

/** `name=value` pairs, separated by commas, as in OpenTelemetry. */
const parseHeaders = (value: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (value ?? "").split(",").flatMap((pair) => {
      const [, name, header] = /^\s*([\w-]+)\s*=(.*)$/.exec(pair.trim()) ?? []
      return name === undefined || header === undefined ? [] : [[name.toLowerCase(), header.trim()]]
    })
  )

const readTraces = Effect.gen(function* () {
  const url = yield* urlVariable("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4318")
  const headers = yield* textVariable("OTEL_EXPORTER_OTLP_HEADERS")
  const service = yield* textVariable("OTEL_SERVICE_NAME")
  if (url === undefined) return undefined
  return {
    url: withoutFinalSlash(url),
    service: service ?? "sluice",
    headers: Redacted.make(parseHeaders(headers))
  }
})

export const readOperation = Effect.gen(function* () {
  const log = yield* oneOf("SLUICE_LOG", "text", ["text", "json"])
  const logRequests = yield* oneOf("SLUICE_LOG_REQUESTS", undefined, ["true", "false"])
  const sourceFolders = yield* textVariable("SLUICE_SOURCE_FOLDERS")
  return {
    // The default is below the 30 seconds after which container platforms kill a process.
    shutdownSeconds: yield* secondsVariable("SLUICE_SHUTDOWN_SECONDS", 20),
    callerSeconds: yield* secondsVariable("SLUICE_CALLER_SECONDS", 30),
    /** Questions that run at the same time at most. */
    questions: yield* wholeNumber("SLUICE_QUESTIONS", QUESTIONS, 1, 999_999),
    /** 0: workers run the jobs. */
    jobs: yield* wholeNumber("SLUICE_JOBS", JOBS, 0, 999),
    /** How long a start waits for a PostgreSQL that cannot be reached. */
    databaseWaitSeconds: yield* secondsVariable("SLUICE_DATABASE_WAIT_SECONDS", 30),
    /** In lower case. Empty: the default of `isAllowedHost`. */
    hosts: yield* parsedVariable(
      "SLUICE_HOSTS",
      "be a list of host names without ports: sluice.example, 10.0.0.5",
      parseHosts,
      []
    ),
    /** Folders below which sources may read. */
    sourceFolders: (sourceFolders ?? "").split(",").flatMap((folder) => folder.trim() || []),
    isTrustedProxy: yield* parsedVariable(
      "SLUICE_TRUSTED_PROXIES",
      "be a list of addresses and networks: 10.0.0.0/8, 2001:db8::1",
      parseSubnet,
      NO_SUBNET
    ),
    log,
    logRequests: logRequests === undefined ? log === "json" : logRequests === "true",
    metricsToken: yield* parsedSecret(
      "SLUICE_METRICS_TOKEN",
      `have at least ${MIN_TOKEN_LENGTH} characters`,
      (text) => (text.length >= MIN_TOKEN_LENGTH ? Redacted.make(text) : undefined)
    ),
    traces: yield* readTraces
  }
})
