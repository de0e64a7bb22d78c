/** The page's session cookie. Browsers send cookies to all ports of a host, so that its name has the server's port. */
import type { Duration } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SESSION_COOKIE } from "../contract/Access.ts"

/** The cookie's name for the address that the browser called. */
export const sessionCookieOf = ({ headers }: HttpServerRequest.HttpServerRequest): string => {
  const [, port] = /:(\d+)$/.exec(headers["host"] ?? "") ?? []
  return port === undefined ? SESSION_COOKIE : `${SESSION_COOKIE}_${port}`
}

/** The session's token; of an earlier version's cookie if there is no other. Undefined without a cookie. */
export const sessionTokenOf = (request: HttpServerRequest.HttpServerRequest): string | undefined =>
  request.headers["cookie"] === undefined
    ? undefined
    : (request.cookies[sessionCookieOf(request)] ?? request.cookies[SESSION_COOKIE])

/** `Secure` only behind a proxy that speaks HTTPS. The server itself speaks HTTP. */
export const setSessionCookie = (
  response: HttpServerResponse.HttpServerResponse,
  request: HttpServerRequest.HttpServerRequest,
  value: string,
  maxAge: Duration.Duration
): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.setCookieUnsafe(response, sessionCookieOf(request), value, {
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    maxAge,
    secure: request.protocol === "https"
  })
