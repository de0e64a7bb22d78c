/**
 * The methods of the services: each in a span of its own, and wrong arguments of callers without a compiler are a
 * `GatewayError` in place of a `TypeError`.
 */
import { Effect, Predicate, Record, Redacted, Stream } from "effect"
import { GatewayError, InvalidRequest } from "../../contract/GatewayError.ts"
import { withMethodSpan } from "./Telemetry.ts"

type Rule = readonly [expected: string, is: (value: unknown) => boolean]

const isText = (value: unknown): value is string => typeof value === "string"

const TEXT: Rule = ["a text", isText]
const TEXTS: Rule = ["a list of texts", (value) => Array.isArray(value) && value.every(isText)]
const INPUT: Rule = ["a text or a list of texts", (value) => isText(value) || TEXTS[1](value)]
const MESSAGES: Rule = [
  "a list of messages",
  (value) => Array.isArray(value) && value.every((message) => Predicate.isObject(message))
]
const NUMBER: Rule = ["a number", (value) => typeof value === "number"]

type Rules = Readonly<Record<string, Rule>>

const CHAT: Rules = { model: TEXT, messages: MESSAGES }
const MEDIA: Rules = { model: TEXT, prompt: TEXT }

/** The fields of each call's first argument, or the argument itself. */
const RULES: Readonly<Record<string, Rules | Rule>> = {
  chat: CHAT,
  chatStream: CHAT,
  embeddings: { model: TEXT, input: INPUT },
  rerank: { model: TEXT, query: TEXT, documents: TEXTS },
  "images.create": MEDIA,
  "images.generate": MEDIA,
  "images.progress": {},
  "images.load": {},
  "images.save": {},
  "videos.create": MEDIA,
  "videos.generate": MEDIA,
  "videos.progress": {},
  "tokens.create": { name: TEXT, remainQuota: NUMBER },
  "tokens.search": TEXT
}

/** Other calls take an id. */
const rulesOf = (operation: string): Rules | Rule =>
  RULES[operation] ?? (operation.startsWith("tokens.") ? NUMBER : TEXT)

/** The calls whose second argument is the path of a file to write. */
const WRITES_FILE: ReadonlySet<string> = new Set(["images.save", "videos.download"])

/** The calls that return a stream. */
const STREAMS: ReadonlySet<string> = new Set([
  "chatStream",
  "images.progress",
  "videos.progress",
  "videos.content"
])

const refuse = (operation: string, message: string, param?: string) =>
  new GatewayError({ operation, notExecuted: true, reason: new InvalidRequest({ message, param }) })

const isRule = (rules: Rules | Rule): rules is Rule => Array.isArray(rules)

const faultOf = (operation: string, [argument, path]: ReadonlyArray<unknown>): GatewayError | undefined => {
  if (WRITES_FILE.has(operation) && !isText(path)) return refuse(operation, "The path is not a text.", "path")
  const rules = rulesOf(operation)
  if (isRule(rules)) {
    const [expected, is] = rules
    return is(argument) ? undefined : refuse(operation, `The first argument is not ${expected}.`)
  }
  if (!Predicate.isObject(argument)) return refuse(operation, "The first argument is not an object.")
  const wrong = Object.entries(rules).find(([name, [, is]]) => !is(argument[name]))
  if (wrong === undefined) return undefined
  const [name, [expected]] = wrong
  return refuse(operation, `\`${name}\` is not ${expected}.`, name)
}

/** The message of Effect for a value that is no duration. */
const NO_DURATION = /^Invalid Input/

/** What remains: other arguments and options, such as a duration that is none. The call may have been executed. */
const thrown = (operation: string, defect: unknown): Effect.Effect<never, GatewayError> => {
  const isWrong = defect instanceof TypeError || defect instanceof RangeError
  if (!isWrong && !(defect instanceof Error && NO_DURATION.test(defect.message))) return Effect.die(defect)
  const reason = new InvalidRequest({ message: `An argument is not valid: ${defect.message}` })
  return new GatewayError({ operation, reason })
}

type Method = (...args: ReadonlyArray<never>) => unknown

const guarded = (span: string, operation: string, method: Method): Method =>
  STREAMS.has(operation)
    ? (...args) =>
        Stream.suspend(() => {
          const fault = faultOf(operation, args)
          return fault ? Stream.fail(fault) : (method(...args) as Stream.Stream<unknown, GatewayError>)
        }).pipe(
          Stream.catchDefect((defect) => Stream.fromEffect(thrown(operation, defect))),
          Stream.withSpan(span)
        )
    : (...args) => {
        const run = () =>
          faultOf(operation, args) ?? (method(...args) as Effect.Effect<unknown, GatewayError>)
        return Effect.catchDefect(Effect.suspend(run), (defect) => thrown(operation, defect)).pipe(
          withMethodSpan(span)
        )
      }

const isCall = (member: unknown): member is Effect.Effect<unknown, GatewayError> => Effect.isEffect(member)

const publicMember = (service: string, operation: string, member: unknown): unknown => {
  const span = service + operation
  if (isCall(member)) return withMethodSpan(span)(member)
  if (Stream.isStream(member)) return Stream.withSpan(member, span)
  return typeof member === "function" ? guarded(span, operation, member as Method) : member
}

/** The calls of a service with their spans, and with their arguments checked. `prefix` is part of the calls' names. */
export const publicMethods = <Methods extends object>(
  service: "Gateway." | "Account.",
  methods: Methods,
  prefix = ""
): Methods =>
  Record.map({ ...methods }, (member, name) => publicMember(service, prefix + name, member)) as Methods

/** Makes a client. Fails without a credential, or with wrong options. */
export const withCheckedOptions = <A, R>(
  credential: unknown,
  name: "apiKey" | "systemAccessToken",
  make: Effect.Effect<A, GatewayError, R>
): Effect.Effect<A, GatewayError, R> =>
  isText(credential) || Redacted.isRedacted(credential)
    ? Effect.catchDefect(make, (defect) => thrown("configure", defect))
    : refuse("configure", `\`${name}\` is missing. Make one with \`${name}("…")\`.`, name)
