/** One error of the server's own endpoints, in the same four fields as an error under /v1. */
import { Schema, SchemaTransformation } from "effect"

/** The body of every error: `{"error":{"message","type","param","code"}}`; always all four. */
export const ProblemBody = Schema.Struct({
  error: Schema.Struct({
    /** For people: what failed, where, what to try next. */
    message: Schema.String,
    type: Schema.String,
    /** The field or the file at fault. */
    param: Schema.NullOr(Schema.String),
    /** For programs, in snake case: `not_found`, `manifest_mismatch`, `encrypted` … */
    code: Schema.NullOr(Schema.String)
  })
})

/** A request of the page or of a program failed. `status` is the HTTP status it is answered with. */
export class Problem extends Schema.TaggedError<Problem>()("Problem", {
  status: Schema.Int,
  message: Schema.String,
  code: Schema.String,
  param: Schema.optionalKey(Schema.String)
}) {}

const typeOf = (status: number): string =>
  status === 401 ? "authentication_error" : status < 500 ? "invalid_request_error" : "server_error"

const toBody = (problem: Problem): typeof ProblemBody.Type => ({
  error: {
    message: problem.message,
    type: typeOf(problem.status),
    param: problem.param ?? null,
    code: problem.code
  }
})

/** The wire form of a problem, for those who write a response by hand. */
export const problemBody = toBody

/** The schema of problems of one status, for an endpoint's `error`. */
export const problem = (status: number) =>
  ProblemBody.pipe(
    Schema.decodeTo(
      Schema.toType(Problem).check(Schema.makeFilter((problem: Problem) => problem.status === status)),
      SchemaTransformation.transform<Problem, typeof ProblemBody.Type>({
        decode: ({ error }) =>
          new Problem({
            status,
            message: error.message,
            code: error.code ?? "unknown",
            ...(error.param === null ? {} : { param: error.param })
          }),
        encode: toBody
      })
    )
  ).annotate({ httpApiStatus: status, identifier: `Problem${status}` })

/** What any endpoint that works on documents may answer. */
export const problems = [400, 404, 409, 413, 422, 500, 502, 503, 507].map(problem)
