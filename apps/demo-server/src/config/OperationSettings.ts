/**
 * How the server is run: the variables of the environment that say so, each checked.
 *
 * The table in `Config.ts` tells what they mean.
 */
import { Config, Effect, Redacted } from "effect"
import { parseSubnet, type Subnet } from "../network/Subnet.ts"
import { StartError } from "./StartError.ts"
import { textVariable } from "./TextVariable.ts"

export interface OperationSettings {
  /** How long calls under way may take to finish after SIGINT or SIGTERM. */
  readonly shutdownSeconds: number
  /** How long a caller may be silent while it is its turn to send, or to take what is sent. */
  readonly callerSeconds: number
  /** Names by which the server may be called, in lower case; empty: as `http/Hosts.ts` has it. */
  readonly hosts: ReadonlyArray<string>
  /** Which peers are believed what they say of the caller. */
  readonly isTrustedProxy: Subnet
  /** Lines of JSON, or text. */
  readonly log: "text" | "json"
  /** A line for each request; otherwise only what went wrong is told. */
  readonly logRequests: boolean
  /** Opens `/metrics` from anywhere; absent, only loopback reads it. */
  readonly metricsToken: Redacted.Redacted | undefined
  /** Where traces go; absent: nowhere. */
  readonly traces:
    | {
        readonly url: string
        readonly service: string
        readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
      }
    | undefined
}

/** Calls that are long, such as images of a gateway, end within it; whoever stops a container waits 30. */
const SHUTDOWN_SECONDS = 20

const CALLER_SECONDS = 30

/** Characters of a token for `/metrics` at least. */
const TOKEN_LENGTH = 16

/** To be read together with the other variables. */
export const operationVariables = Config.unwrap({
  shutdown: textVariable("SLUICE_SHUTDOWN_SECONDS"),
  caller: textVariable("SLUICE_CALLER_SECONDS"),
  hosts: textVariable("SLUICE_HOSTS"),
  proxies: textVariable("SLUICE_TRUSTED_PROXIES"),
  log: textVariable("SLUICE_LOG"),
  logRequests: textVariable("SLUICE_LOG_REQUESTS"),
  metricsToken: textVariable("SLUICE_METRICS_TOKEN"),
  traces: textVariable("OTEL_EXPORTER_OTLP_ENDPOINT"),
  traceHeaders: textVariable("OTEL_EXPORTER_OTLP_HEADERS"),
  service: textVariable("OTEL_SERVICE_NAME")
})

type Variables = Config.Success<typeof operationVariables>

const refuse = (message: string) => new StartError({ message })

const secondsOf = (name: string, value: string | undefined, otherwise: number) => {
  if (value === undefined) return Effect.succeed(otherwise)
  const seconds = Number(value)
  return seconds > 0 && seconds <= 3600
    ? Effect.succeed(seconds)
    : Effect.fail(refuse(`${name} is not a number of seconds: give one above 0, at most 3600`))
}

const HOST = /^(?:\[[0-9a-f:.]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)$/

const hostsOf = (value: string | undefined) => {
  const hosts = (value ?? "")
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((host) => host !== "")
  return hosts.every((host) => HOST.test(host))
    ? Effect.succeed(hosts)
    : Effect.fail(
        refuse("SLUICE_HOSTS is a list of host names without ports, such as sluice.example, 10.0.0.5")
      )
}

const proxiesOf = (value: string | undefined) => {
  if (value === undefined) return Effect.succeed(() => false)
  const subnet = parseSubnet(value)
  return subnet !== undefined
    ? Effect.succeed(subnet)
    : Effect.fail(
        refuse("SLUICE_TRUSTED_PROXIES is a list of addresses and networks, such as 10.0.0.0/8, 2001:db8::1")
      )
}

const logOf = (value = "text") =>
  value === "text" || value === "json"
    ? Effect.succeed<"text" | "json">(value)
    : Effect.fail(refuse("SLUICE_LOG is either text or json"))

/** What reads JSON wants all; at a terminal nobody asks for a line a request. */
const logRequestsOf = ({ log, logRequests = String(log === "json") }: Variables) =>
  logRequests === "true" || logRequests === "false"
    ? Effect.succeed(logRequests === "true")
    : Effect.fail(refuse("SLUICE_LOG_REQUESTS is either true or false"))

const tokenOf = (value: string | undefined) => {
  if (value === undefined) return Effect.succeed(undefined)
  // The token itself stays out of the message.
  return value.length >= TOKEN_LENGTH
    ? Effect.succeed(Redacted.make(value))
    : Effect.fail(refuse(`SLUICE_METRICS_TOKEN can be guessed: give at least ${TOKEN_LENGTH} characters`))
}

/** `name=value` pairs, separated by commas, as OpenTelemetry has them. */
const headersOf = (value: string | undefined): Readonly<Record<string, string>> =>
  Object.fromEntries(
    (value ?? "").split(",").flatMap((pair) => {
      const [, name, said] = /^\s*([\w-]+)\s*=\s*(.*?)\s*$/.exec(pair) ?? []
      return name === undefined || said === undefined ? [] : [[name.toLowerCase(), said]]
    })
  )

const tracesOf = ({ service, traceHeaders, traces }: Variables) => {
  if (traces === undefined) return Effect.succeed(undefined)
  return URL.canParse(traces) && /^https?:$/.test(new URL(traces).protocol)
    ? Effect.succeed({
        url: traces.replace(/\/+$/, ""),
        service: service ?? "sluice",
        headers: Redacted.make(headersOf(traceHeaders))
      })
    : Effect.fail(refuse("OTEL_EXPORTER_OTLP_ENDPOINT is not an http or https address"))
}

/** What they say; a `StartError` names the one that is wrong. */
export const operationOf = Effect.fn("ServerConfig.operation")(function* (found: Variables) {
  return {
    shutdownSeconds: yield* secondsOf("SLUICE_SHUTDOWN_SECONDS", found.shutdown, SHUTDOWN_SECONDS),
    callerSeconds: yield* secondsOf("SLUICE_CALLER_SECONDS", found.caller, CALLER_SECONDS),
    hosts: yield* hostsOf(found.hosts),
    isTrustedProxy: yield* proxiesOf(found.proxies),
    log: yield* logOf(found.log),
    logRequests: yield* logRequestsOf(found),
    metricsToken: yield* tokenOf(found.metricsToken),
    traces: yield* tracesOf(found)
  } satisfies OperationSettings
})
