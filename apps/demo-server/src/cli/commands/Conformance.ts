/** `sluice conformance`: does a gateway keep the contract, rule by rule? */
import { ApiKey, GatewayError, InvalidRequest, SystemAccessToken } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { type CheckedCall, checkGateway, type Judged, type Kind, type Report } from "@sluice/core/conformance"
import { Config, Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { json, note, print } from "../output/Output.ts"

const MARKS = { conforms: "✓", fails: "✗", skipped: "–" } as const

const line = ({ detail, kind, says, section, verdict }: Judged): string =>
  `  ${MARKS[verdict]} ${says}  [${kind}: ${section}]${detail === undefined ? "" : `\n      ${detail}`}`

const block = ({ call, rules, skipped }: CheckedCall): string =>
  skipped === undefined ? [call, ...rules.map(line)].join("\n") : `${call}\n  – left out: ${skipped}`

const sum = ({ totals }: Report, kind: Kind): string => {
  const { conforms, fails, skipped } = totals[kind]
  return `${kind}: ${conforms} rules kept, ${fails} broken, ${skipped} left out`
}

const verdict = ({ conforms, gateway, totals }: Report): string => {
  if (conforms) return `${gateway} breaks no rule of the interface that was tried`
  return totals.interface.fails > 0
    ? `${gateway} does not conform: it breaks rules of the interface`
    : `Of ${gateway} nothing can be said: no rule of the interface could be tried. Check the base URL, or name a model, as with --embedding-model`
}

/** Every call with its rules, then the totals and the verdict. */
const render = (report: Report): string =>
  [
    ...report.calls.map(block),
    `${sum(report, "interface")}\n${sum(report, "our choice")}`,
    verdict(report)
  ].join("\n\n")

const allowing = (name: string, what: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(what), Flag.withDefault(false))

const model = (name: string, fallback = `the first that is listed for it, or has “${name}” in its id`) =>
  Flag.String(`${name}-model`).pipe(
    Flag.withDescription(`Model to call. Default: ${fallback}`),
    Flag.optional
  )

/** A credential that a header can carry, or what is wrong with it, without showing it. */
const credential = <A>(schema: Schema.ConstraintDecoder<A>, flag: string, value: Redacted.Redacted) =>
  Effect.mapError(
    Schema.decodeUnknownEffect(schema)(Redacted.value(value)),
    () =>
      new GatewayError({
        operation: "configure",
        reason: new InvalidRequest({ message: `${flag} is not one word of visible ASCII characters.` })
      })
  )

export const conformance = Command.make(
  "conformance",
  {
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription("Where the gateway is. Default: SLUICE_GATEWAY_URL"),
      Flag.withFallbackConfig(Config.NonEmptyString("SLUICE_GATEWAY_URL"))
    ),
    apiKey: Flag.Redacted("api-key").pipe(
      Flag.withDescription("Its API key. Default: SLUICE_API_KEY, which no list of processes shows"),
      Flag.withFallbackConfig(Config.Redacted("SLUICE_API_KEY"))
    ),
    accessToken: Flag.Redacted("access-token").pipe(
      Flag.withDescription(
        "Its system access token, for /api. Default: SLUICE_ACCESS_TOKEN, else /api is left out"
      ),
      Flag.withFallbackConfig(Config.Redacted("SLUICE_ACCESS_TOKEN")),
      Flag.optional
    ),
    paid: allowing("paid", "Allow calls that cost more than an embedding: rerank, chat, images, one video"),
    write: allowing("write", "Allow a token to be created, changed and deleted"),
    rotate: allowing("rotate", "Allow the system access token to be replaced: the old one ends"),
    saveToken: Flag.File("save-token").pipe(
      Flag.withDescription("With --rotate: a new file for the new system access token, else it is lost"),
      Flag.optional
    ),
    embedding: model("embedding", "the first that is listed for it, or has “embed” in its id"),
    rerank: model("rerank"),
    chat: model(
      "chat",
      "the first that is listed for it and sees images, or has “chat” or “vision” in its id"
    ),
    image: model("image"),
    twoStepImage: model(
      "two-step-image",
      "the first image model that is listed with “task” in its id; needed where the image model answers at once"
    ),
    video: model("video"),
    json
  },
  ({ accessToken, apiKey, baseUrl, json, paid, rotate, saveToken, write, ...models }) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const save = (path: string) => (token: SystemAccessToken) =>
        fs.writeFileString(path, Redacted.value(token), { flag: "wx", mode: 0o600 }).pipe(
          Effect.andThen(note(`The new system access token is in ${path}`)),
          Effect.catch(({ message }) => note(`The new system access token could not be written: ${message}`))
        )
      const report = yield* checkGateway({
        baseUrl,
        paid,
        write,
        rotate,
        apiKey: yield* credential(ApiKey, "--api-key", apiKey),
        accessToken: Option.isNone(accessToken)
          ? undefined
          : yield* credential(SystemAccessToken, "--access-token", accessToken.value),
        models: {
          embedding: Option.getOrUndefined(models.embedding),
          rerank: Option.getOrUndefined(models.rerank),
          chat: Option.getOrUndefined(models.chat),
          image: Option.getOrUndefined(models.image),
          twoStepImage: Option.getOrUndefined(models.twoStepImage),
          video: Option.getOrUndefined(models.video)
        },
        onRotated: Option.getOrUndefined(Option.map(saveToken, save))
      })
      yield* print(json, report, () => render(report))
      // A result that is printed is no error, and still a program has to see it.
      if (!report.conforms) yield* Effect.sync(() => (process.exitCode = 1))
    }).pipe(Effect.provide(layerTransport()))
).pipe(
  Command.withDescription(
    "Run the contract against any gateway: what conforms, call by call and rule by rule. Fails when a rule of the interface is broken, or none could be tried"
  ),
  Command.withExamples([
    {
      command: "sluice conformance --base-url https://gateway.example.com --api-key sk-…",
      description: "What costs no more than a few embeddings"
    },
    {
      command: "sluice conformance --access-token … --paid --write --json",
      description: "All calls but the one that replaces the access token"
    }
  ])
)
