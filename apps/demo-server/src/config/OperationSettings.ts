/** Environment variables for operating the server: shutdown, hosts, logs, metrics, traces. */
import { withoutFinalSlash } from "@sluice/core/contract"
import { Config, Effect, Redacted } from "effect"
import { parseSubnet, type Subnet } from "../network/IpAddress.ts"
import { oneOf, invalidVariable, isHttpUrl, textVariable, wholeNumber } from "./Variables.ts"

/** Characters of `SLUICE_METRICS_TOKEN` at least. */
const MIN_TOKEN_LENGTH = 16

export const operationVariables = Config.unwrap({
  shutdown: textVariable("SLUICE_SHUTDOWN_SECONDS"),
  caller: textVariable("SLUICE_CALLER_SECONDS"),
  questions: textVariable("SLUICE_QUESTIONS"),
  jobs: textVariable("SLUICE_JOBS"),
  databaseWait: textVariable("SLUICE_DATABASE_WAIT_SECONDS"),
  hosts: textVariable("SLUICE_HOSTS"),
  sourceFolders: textVariable("SLUICE_SOURCE_FOLDERS"),
  proxies: textVariable("SLUICE_TRUSTED_PROXIES"),
  log: textVariable("SLUICE_LOG"),
  logRequests: textVariable("SLUICE_LOG_REQUESTS"),
  metricsToken: textVariable("SLUICE_METRICS_TOKEN"),
  traces: textVariable("OTEL_EXPORTER_OTLP_ENDPOINT"),
  traceHeaders: textVariable("OTEL_EXPORTER_OTLP_HEADERS"),
  service: textVariable("OTEL_SERVICE_NAME")
})

type Variables = Config.Success<typeof operationVariables>

const parseSeconds = (name: string, value: string | undefined, defaultSeconds: number) => {
  const seconds = Number(value ?? defaultSeconds)
  return seconds > 0 && seconds <= 3600
    ? Effect.succeed(seconds)
    : invalidVariable(`${name} must be a number of seconds above 0 and at most 3600`)
}

/** Questions that run at the same time unless `SLUICE_QUESTIONS` says otherwise. */
const QUESTIONS = 128

/** Jobs that run at the same time unless `SLUICE_JOBS` says otherwise. */
const JOBS = 2

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$/

const parseHosts = (value: string | undefined) => {
  const hosts = (value ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((host) => host !== "")
  return hosts.every((host) => HOST.test(host))
    ? Effect.succeed(hosts)
    : invalidVariable("SLUICE_HOSTS must be a list of host names without ports: sluice.example, 10.0.0.5")
}

const parseProxies = (value: string | undefined) => {
  const subnet: Subnet | undefined = value === undefined ? () => false : parseSubnet(value)
  return subnet !== undefined
    ? Effect.succeed(subnet)
    : invalidVariable(
        "SLUICE_TRUSTED_PROXIES must be a list of addresses and networks: 10.0.0.0/8, 2001:db8::1"
      )
}

/** The message does not repeat the token. */
const parseToken = (value: string | undefined) => {
  if (value === undefined) return Effect.succeed(undefined)
  return value.length >= MIN_TOKEN_LENGTH
    ? Effect.succeed(Redacted.make(value))
    : invalidVariable(`SLUICE_METRICS_TOKEN must have at least ${MIN_TOKEN_LENGTH} characters`)
}

/** `name=value` pairs, separated by commas, as in OpenTelemetry. */
const parseHeaders = (value: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (value ?? "").split(",").flatMap((pair) => {
      const [, name, header] = /^\s*([\w-]+)\s*=(.*)$/.exec(pair.trim()) ?? []
      return name === undefined || header === undefined ? [] : [[name.toLowerCase(), header.trim()]]
    })
  )

const parseTraces = ({ service, traceHeaders, traces }: Variables) => {
  if (traces === undefined) return Effect.succeed(undefined)
  return isHttpUrl(traces)
    ? Effect.succeed({
        url: withoutFinalSlash(traces),
        service: service ?? "sluice",
        headers: Redacted.make(parseHeaders(traceHeaders))
      })
    : invalidVariable("OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https address")
}

export const parseOperation = Effect.fn("ServerConfig.operation")(function* (found: Variables) {
  const { log = "text", logRequests = String(log === "json") } = found
  return {
    // The default is below the 30 seconds after which container platforms kill a process.
    shutdownSeconds: yield* parseSeconds("SLUICE_SHUTDOWN_SECONDS", found.shutdown, 20),
    callerSeconds: yield* parseSeconds("SLUICE_CALLER_SECONDS", found.caller, 30),
    /** Questions that run at the same time at most. */
    questions: yield* wholeNumber("SLUICE_QUESTIONS", found.questions ?? QUESTIONS, 1, 999_999),
    /** 0: workers run the jobs. */
    jobs: yield* wholeNumber("SLUICE_JOBS", found.jobs ?? JOBS, 0, 999),
    /** How long a start waits for a PostgreSQL that cannot be reached. */
    databaseWaitSeconds: yield* parseSeconds("SLUICE_DATABASE_WAIT_SECONDS", found.databaseWait, 30),
    /** In lower case. Empty: the default of `isAllowedHost`. */
    hosts: yield* parseHosts(found.hosts),
    /** Folders below which sources may read. */
    sourceFolders: (found.sourceFolders ?? "").split(",").flatMap((folder) => folder.trim() || []),
    isTrustedProxy: yield* parseProxies(found.proxies),
    log: yield* oneOf("SLUICE_LOG", log, ["text", "json"]),
    logRequests: (yield* oneOf("SLUICE_LOG_REQUESTS", logRequests, ["true", "false"])) === "true",
    metricsToken: yield* parseToken(found.metricsToken),
    traces: yield* parseTraces(found)
  }
})
