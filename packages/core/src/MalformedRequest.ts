/** How a request that does not fit its schema is answered: a middleware of the contract. */
import { Effect, type Layer, SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { Failure, failures } from "./Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

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
            message: "The answer could not be encoded: please report",
            retryable: false
          })
        )
      }
      const [issue] = format(error.cause.issue).issues
      const param = (issue?.path ?? [])
        .map((step) => String(typeof step === "object" ? step.key : step))
        .join(".")
      const where = param === "" ? `The ${error.kind.toLowerCase()} of the request` : `\`${param}\``
      const message = `${where} is not valid: ${issue?.message ?? "it does not fit its schema"}`
      return Effect.fail(
        new Failure({ status: 400, message, param: param === "" ? undefined : param, retryable: false })
      )
    }
  )
}
