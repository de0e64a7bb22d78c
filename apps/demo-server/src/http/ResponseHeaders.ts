/** Headers of responses. */
import { Effect } from "effect"
import { HttpEffect, HttpServerResponse } from "effect/http"

/** Of every response that does not set its own. The policy allows nothing to be loaded or framed. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'"
}

/** The same, and caches must not store the response. */
export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  ...SECURITY_HEADERS,
  "cache-control": "private, no-store"
}

/** Adds headers to the response of the current request, whatever it will be. */
export const addHeaders = (headers: Record<string, string>) =>
  HttpEffect.appendPreResponseHandler((_request, response) =>
    Effect.succeed(HttpServerResponse.setHeaders(response, headers))
  )
