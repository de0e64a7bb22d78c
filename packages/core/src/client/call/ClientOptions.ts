/** The options that both clients share, and their configuration from the environment. */
import { withoutFinalSlash } from "../../contract/Fields.ts"
import { Config, Effect, Option, Schema } from "effect"
import { GatewayError, InvalidRequest } from "../../contract/GatewayError.ts"
import type { TransportOptions } from "../transport/Transport.ts"
import type { CallOptions } from "./Caller.ts"

export interface ClientOptions extends CallOptions, TransportOptions {
  /** The URL of the gateway, before `/v1` and `/api`. */
  readonly baseUrl: string | URL
}

const refuse = (message: string) =>
  new GatewayError({ operation: "configure", reason: new InvalidRequest({ message }) })

/** The base URL without a final slash and without `/v1`. */
export const baseUrlOf = (value: string | URL): Effect.Effect<string, GatewayError> => {
  const url = URL.parse(String(value))
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return refuse("The base URL is not an http or https URL such as https://gateway.example.com.")
  }
  if (url.username !== "" || url.password !== "") {
    return refuse("The base URL contains a credential. Pass it as the API key, which is kept redacted.")
  }
  return Effect.succeed(`${url.origin}${withoutFinalSlash(url.pathname).replace(/\/v1$/, "")}`)
}

/** A required environment variable. Its value is not repeated in errors. */
export const required = <A>(schema: Schema.ConstraintCodec<A, unknown>, name: string, what: string) =>
  Effect.gen(function* () {
    return yield* Config.option(Config.schema(schema, name))
  }).pipe(
    Effect.mapError(() => refuse(`${name} is not one word of visible ASCII characters. Set it to ${what}.`)),
    Effect.flatMap(
      Option.match({
        onSome: Effect.succeed,
        onNone: () =>
          refuse(`${name} is not set. Set it to ${what}. Without a gateway, use the embedded models.`)
      })
    )
  )

/** `SLUICE_GATEWAY_URL`. */
export const gatewayUrl = required(Schema.NonEmptyString, "SLUICE_GATEWAY_URL", "the gateway's base URL")
