/** Headers that the response of the current request gets, whatever it will be. */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

export const addHeaders = (headers: Record<string, string>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )
