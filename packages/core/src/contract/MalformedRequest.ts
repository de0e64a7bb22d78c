/** How a request that does not fit its schema is answered: a middleware of the contract. */
import { Effect, type Layer, SchemaIssue } from "effect"
import { HttpApiMiddleware } from "effect/http-api"
import { Failure, failures } from "./Failure.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

type Issue = ReturnType<typeof format>["issues"][number]

/** What Schema says of a field that is not known. */
const EXCESS = "Expected no excess property"

/** What Schema says, as a caller of HTTP would. */
const SAID: Readonly<Record<string, string>> = {
  "Missing key": "is missing: it has to be given",
  [EXCESS]: "is not known here: leave it out"
}

/** A sentence about what does not fit, of its place and of what Schema says of it. */
export const misfit = (where: string, said = "it does not fit its schema"): string =>
  `${where} ${SAID[said] ?? `is not valid: ${said}`}`

const pathOf = (issue: Issue | undefined): ReadonlyArray<string> =>
  (issue?.path ?? []).map((step) => String(typeof step === "object" ? step.key : step))

const isWithin = (outer: ReadonlyArray<string>, path: ReadonlyArray<string>): boolean =>
  outer.every((step, i) => path[i] === step)

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
      const issues = format(error.cause.issue).issues
      const [first] = issues
      // Of the forms that a value may have, one has no such field, and another says what is wrong in it.
      const issue =
        first?.message === EXCESS
          ? (issues.find((each) => each.message !== EXCESS && isWithin(pathOf(first), pathOf(each))) ?? first)
          : first
      const param = pathOf(issue).join(".")
      const where = param === "" ? `The ${error.kind.toLowerCase()} of the request` : `\`${param}\``
      const message = misfit(where, issue?.message)
      return Effect.fail(
        new Failure({ status: 400, message, param: param === "" ? undefined : param, retryable: false })
      )
    }
  )
}
