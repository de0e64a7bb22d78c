/** `sluice conformance`: checks a gateway against the contract, rule by rule. */
import { ApiKey, GatewayError, InvalidRequest, SystemAccessToken } from "@sluice/core"
import { layerTransport } from "@sluice/core/client"
import { IMAGE_GROUPS, VIDEO_GROUPS, type VideoGroup } from "@sluice/core/contract"
import {
  type CheckedCall,
  checkGateway,
  type RuleResult,
  type RuleKind,
  type Report
} from "@sluice/core/conformance"
import { Config, Effect, FileSystem, Option, Record, Redacted, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { booleanFlag, examples, jsonFlag, optionalFlag } from "../library/Flags.ts"
import { note, printResult, setExitCode } from "../output/Output.ts"

const VIDEO_GROUP_NAMES = [...Object.keys(VIDEO_GROUPS), "image-to-video"] as ReadonlyArray<VideoGroup>

const MARKS = { conforms: "✓", fails: "✗", skipped: "–" } as const

const line = ({ detail, kind, says, section, verdict }: RuleResult): string =>
  `  ${MARKS[verdict]} ${says}  [${kind}: ${section}]${detail === undefined ? "" : `\n      ${detail}`}`

const block = ({ call, rules, skipped }: CheckedCall): string =>
  skipped === undefined ? [call, ...rules.map(line)].join("\n") : `${call}\n  – skipped: ${skipped}`

const totalsLine = ({ totals }: Report, kind: RuleKind): string => {
  const { conforms, fails, skipped } = totals[kind]
  return `${kind}: ${conforms} passed, ${fails} failed, ${skipped} skipped`
}

const verdict = ({ conforms, gateway, totals }: Report): string => {
  if (conforms) return `${gateway} conforms: no interface rule failed`
  return totals.interface.fails > 0
    ? `${gateway} does not conform: some interface rules failed`
    : `${gateway} could not be checked: no interface rule could be run. Check the base URL, or set a model, such as --embedding-model`
}

const render = (report: Report): string =>
  [
    ...report.calls.map(block),
    `${totalsLine(report, "interface")}\n${totalsLine(report, "our choice")}`,
    verdict(report)
  ].join("\n\n")

const model = (name: string, fallback = `the first model listed for it, or with “${name}” in its id`) =>
  optionalFlag(Flag.String(`${name}-model`), `Model to call. Default: ${fallback}`)

/** The group of a model, whose rules are then checked. */
const group = <const G extends string>(name: string, groups: ReadonlyArray<G>) =>
  optionalFlag(Flag.Literals(`${name}-group`, groups), `Group of the ${name} model, to check its rules too`)

/** Checks that a header can carry the credential. The error does not show it. */
const credential = <A>(schema: Schema.ConstraintDecoder<A>, flag: string, value: Redacted.Redacted) =>
  Effect.mapError(Schema.decodeUnknownEffect(schema)(Redacted.value(value)), () => {
    const message = `${flag} must be visible ASCII characters without spaces.`
    return new GatewayError({ operation: "configure", reason: new InvalidRequest({ message }) })
  })

export const conformanceCommand = Command.make(
  "conformance",
  {
    baseUrl: Flag.String("base-url").pipe(
      Flag.withDescription("URL of the gateway. Default: SLUICE_GATEWAY_URL"),
      Flag.withFallbackConfig(Config.NonEmptyString("SLUICE_GATEWAY_URL"))
    ),
    apiKey: Flag.Redacted("api-key").pipe(
      Flag.withDescription("API key. Default: SLUICE_API_KEY, which is safer: process lists show flags"),
      Flag.withFallbackConfig(Config.Redacted("SLUICE_API_KEY"))
    ),
    accessToken: Flag.Redacted("access-token").pipe(
      Flag.withDescription("System access token. Default: SLUICE_ACCESS_TOKEN, else /api is skipped"),
      Flag.withFallbackConfig(Config.Redacted("SLUICE_ACCESS_TOKEN")),
      Flag.optional
    ),
    paid: booleanFlag("paid", "Allow calls that cost more than an embedding: rerank, chat, images, a video"),
    write: booleanFlag("write", "Allow creating, changing and deleting a token"),
    rotate: booleanFlag("rotate", "Allow replacing the system access token. This revokes the old one"),
    saveToken: optionalFlag(Flag.File("save-token"), "With --rotate: new file to save the new token in"),
    embedding: model("embedding", "the first model listed for it, or with “embed” in its id"),
    rerank: model("rerank"),
    chat: model("chat", "the first listed for it that accepts images, or with “chat” or “vision” in its id"),
    image: model("image"),
    twoStepImage: model(
      "two-step-image",
      "the first listed image model with “task” in its id. Needed when the image model answers at once"
    ),
    video: model("video"),
    imageGroup: group("image", IMAGE_GROUPS),
    videoGroup: group("video", VIDEO_GROUP_NAMES),
    json: jsonFlag
  },
  ({ accessToken, apiKey, baseUrl, json, paid, rotate, saveToken, write, ...flags }) =>
    Effect.gen(function* () {
      const { imageGroup, videoGroup, ...models } = flags
      const fs = yield* FileSystem.FileSystem
      const save = (path: string) => (token: SystemAccessToken) =>
        fs.writeFileString(path, Redacted.value(token), { flag: "wx", mode: 0o600 }).pipe(
          Effect.andThen(note(`The new system access token is in ${path}.`)),
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
        models: Record.getSomes(models),
        groups: Record.getSomes({ image: imageGroup, video: videoGroup }),
        onRotated: Option.getOrUndefined(Option.map(saveToken, save))
      })
      yield* printResult(json, report, () => render(report))
      if (!report.conforms) yield* setExitCode
    }).pipe(Effect.provide(layerTransport()))
).pipe(
  Command.withDescription(
    "Check any gateway against the contract, rule by rule. The exit code is 1 if an interface rule fails or none could be run"
  ),
  examples({
    "sluice conformance --base-url https://gateway.example.com --api-key sk-…":
      "Only calls that cost no more than a few embeddings",
    "sluice conformance --access-token … --paid --write --json":
      "All calls except the one that replaces the access token"
  })
)
