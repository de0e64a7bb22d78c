/** How a request that does not fit its schema is answered: a middleware of the contract. */
import { Effect, type Layer, SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { Failure, failures } from "./Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Issue = ReturnType<typeof format>["issues"][number]

/** What Schema says of a field that is not known. */
const EXCESS = "Expected no excess property"

/** What Schema says, as a caller of HTTP would. */
const ISSUE_TEXT: Readonly<Record<string, string>> = {
  "Missing key": "is missing: it has to be given",
  [EXCESS]: "is not known here: leave it out"
}

/** A sentence about what does not fit, of its place and of what Schema says of it. */
export const describeIssue = (where: string, issue = "it does not fit its schema"): string =>
  `${where} ${ISSUE_TEXT[issue] ?? `is not valid: ${issue}`}`

const pathOf = (issue: Issue | undefined): ReadonlyArray<string> =>
  (issue?.path ?? []).map((step) => String(typeof step === "object" ? step.key : step))

const isWithin = (outer: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  outer.every((step, i) => path[i] === step)

/** The failure of a part of a request, such as its payload, that does not fit its schema. */
export const malformedRequest = (part: string, issue: SchemaIssue.Issue): Failure => {
  const { issues } = format(issue)
  const [first] = issues
  // A union reports every member: an error within a known field says more than an unknown field.
  const reported =
    first?.message === EXCESS
      ? (issues.find((each) => each.message !== EXCESS && isWithin(pathOf(first), pathOf(each))) ?? first)
      : first
  const param = pathOf(reported).join(".")
  const message = describeIssue(
    param === "" ? `The ${part} of the request` : `\`${param}\``,
    reported?.message
  )
  return new Failure({ status: 400, message, param: param === "" ? undefined : param })
}

/**
 * Answers 400 in the one error shape, `param` naming the field.
 *
 * **Details.** Wanted by every endpoint of `GatewayApi`; a server provides `MalformedRequest.layer` once. An answer of
 * our own that does not fit its schema is a fault of ours: 500, and nothing of it is shown.
 */
export class MalformedRequest extends HttpApiMiddleware.Service<MalformedRequest>()(
  "@sluice/core/MalformedRequest",
  { error: failures }
) {
  static readonly layer: Layer.Layer<MalformedRequest> = HttpApiMiddleware.layerSchemaErrorTransform(
    MalformedRequest,
    (error) => {
      if (error.kind === "Body" || error.kind === "ResponseHeaders") {
        return Effect.fail(
          new Failure({
            status: 500,
            message: "The answer could not be encoded: please report"
          })
        )
      }
      return Effect.fail(malformedRequest(error.kind.toLowerCase(), error.cause.issue))
    }
  )
}
