/** Decodes JSON responses by the contract, after the corrections of `tolerance`. */
import { Effect, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { compileDecoder } from "./CompiledDecoder.ts"
import { parseTask } from "../../tolerance/Tasks.ts"

type Response = HttpClientResponse.HttpClientResponse
type ReadError = HttpClientError.HttpClientError

/** A body by another parser than JSON's. A body that it cannot parse has JSON's error. */
export const parsedBody =
  <Body>(read: (response: Response) => Effect.Effect<Body, ReadError>, parse: (body: Body) => unknown) =>
  (response: Response): Effect.Effect<unknown, ReadError> =>
    Effect.flatMap(read(response), (body) => {
      const parsed = parse(body)
      return parsed === undefined ? response.json : Effect.succeed(parsed)
    })

/** The body of a task, with its exact id. */
export const readTask = parsedBody(({ text }) => text, parseTask)

/** A decoder of responses. `tolerate` brings what gateways send into the contract's form. */
export const decodeJson = <S extends Schema.Constraint>(
  schema: S,
  tolerate: (json: unknown) => unknown,
  read: (response: Response) => Effect.Effect<unknown, ReadError> = ({ json }) => json
): ((
  response: Response
) => Effect.Effect<S["Type"], ReadError | Schema.SchemaError, S["DecodingServices"]>) => {
  const decode = compileDecoder(Schema.toCodecJson(schema))
  return (response) => Effect.flatMap(read(response), (json) => decode(tolerate(json)))
}
