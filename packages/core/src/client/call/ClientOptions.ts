/** What a client is told, and where it reads it from. */
import { Config, Effect, Option, Schema } from "effect"
import { GatewayError, InvalidRequest } from "../../contract/GatewayError.ts"
import type { CallOptions } from "./Caller.ts"
import type { TransportOptions } from "../transport/Transport.ts"

export interface ClientOptions extends CallOptions, TransportOptions {
  /** Where the gateway is; the paths begin at its end with `/v1` and `/api`. */
  readonly baseUrl: string | URL
}

const refuse = (message: string) =>
  new GatewayError({ operation: "configure", reason: new InvalidRequest({ message }) })

/** The base URL without a slash or `/v1` at its end, or why it is none. */
export const baseUrlOf = (value: string | URL): Effect.Effect<string, GatewayError> => {
  const url = URL.parse(String(value))
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return refuse(
      "The gateway's base URL is not an http or https address, such as https://gateway.example.com."
    )
  }
  if (url.username !== "" || url.password !== "") {
    return refuse(
      "The gateway's base URL carries a credential: give it as the API key, where it is kept redacted."
    )
  }
  return Effect.succeed(`${url.origin}${url.pathname.replace(/\/+$/, "").replace(/\/v1$/, "")}`)
}

/** A variable of the environment that a client cannot do without. */
export const required = <A>(schema: Schema.ConstraintCodec<A, unknown>, name: string, what: string) =>
  Effect.gen(function* () {
    return yield* Config.option(Config.schema(schema, name))
  }).pipe(
    // What it holds is not repeated.
    Effect.mapError(() =>
      refuse(`${name} is not one word of visible ASCII characters: it has to hold ${what}.`)
    ),
    Effect.flatMap((value) =>
      Option.isSome(value)
        ? Effect.succeed(value.value)
        : refuse(`${name} is not set: it has to hold ${what}. Without a gateway, use the embedded models.`)
    )
  )

/** `SLUICE_GATEWAY_URL`. */
export const gatewayUrl = required(Schema.NonEmptyString, "SLUICE_GATEWAY_URL", "the gateway's base URL")
