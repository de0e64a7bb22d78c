/** The response to a request that does not match its schema: a middleware of the contract. */
import { Effect, type Layer, type SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { Failure, failures } from "./Failure.ts"
import { faultsOf } from "./Fields.ts"

/** Schema's message for an unknown field. */
const EXCESS = "Expected no excess property"

/** Schema's messages, in the words of HTTP callers. */
const ISSUE_TEXT: Readonly<Record<string, string>> = {
  "Missing key": "is missing",
  [EXCESS]: "is not a known field: leave it out"
}

/** An error message from a place and Schema's message. */
const describeIssue = (where: string, issue = "it does not match the schema"): string =>
  `${where} ${ISSUE_TEXT[issue] ?? `is not valid: ${issue}`}`

/** The failure for a part of a request, such as its payload, that does not match its schema. */
export const malformedRequest = (part: string, issue: SchemaIssue.Issue): Failure => {
  const faults = faultsOf(issue)
  const [first] = faults
  // A union reports every member: an error within a known field says more than an unknown field.
  const reported =
    first?.message === EXCESS
      ? (faults.find(({ message, path }) => message !== EXCESS && `${path}.`.startsWith(`${first.path}.`)) ??
        first)
      : first
  const param = reported?.path ?? ""
  const message = describeIssue(
    param === "" ? `The ${part} of the request` : `\`${param}\``,
    reported?.message
  )
  return new Failure({ status: 400, message, param: param === "" ? undefined : param })
}

/**
 * Responds with 400 and an `ErrorBody` whose `param` names the field.
 *
 * **Details.** Every endpoint of `GatewayApi` requires it; a server provides `MalformedRequest.layer` once. A response that
 * cannot be encoded is an error of the server: 500, without details.
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
          new Failure({ status: 500, message: "The response could not be encoded. Please report it." })
        )
      }
      return Effect.fail(malformedRequest(error.kind.toLowerCase(), error.cause.issue))
    }
  )
}
