/** Decodes JSON responses by the contract, after the corrections of `tolerance`. */
import { Effect, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"

type Response = HttpClientResponse.HttpClientResponse

/** The body by another parser than JSON's. A body that it cannot parse has JSON's error. */
const parsedBody = (response: Response, parse: (text: string) => unknown) =>
  Effect.flatMap(response.text, (text): typeof response.json => {
    const parsed = parse(text)
    return parsed === undefined ? response.json : Effect.succeed(parsed as Schema.Json)
  })

/** A decoder of responses. `tolerate` brings what gateways send into the contract's form. */
export const decodeJson = <S extends Schema.Constraint>(
  schema: S,
  tolerate: (json: unknown) => unknown,
  parse?: (text: string) => unknown
) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  return (
    response: Response
  ): Effect.Effect<S["Type"], HttpClientError.HttpClientError | Schema.SchemaError, S["DecodingServices"]> =>
    Effect.flatMap(parse === undefined ? response.json : parsedBody(response, parse), (json) =>
      decode(tolerate(json))
    )
}
