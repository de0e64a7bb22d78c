/** Maps responses of upstreams to the interface, by their dialect. */
import { parseJson } from "@sluice/core/client"
import { Effect, Predicate } from "effect"
import { type HttpClientError, HttpClientResponse } from "effect/http"
import type { Dialect, Fields, OperationName } from "./Dialect.ts"

type Response = HttpClientResponse.HttpClientResponse

/** Maps the body of an error response to the interface's form. */
export const withInterfaceErrors = <E>(
  { error }: Dialect,
  sent: Effect.Effect<Response, E>
): Effect.Effect<Response, E | HttpClientError.HttpClientError> =>
  error === undefined
    ? sent
    : Effect.flatMap(sent, (response) =>
        response.status >= 200 && response.status < 300
          ? Effect.succeed(response)
          : Effect.map(response.text, (text) => {
              const body = parseJson(text)
              const mapped = Predicate.isObject(body) ? error(body) : undefined
              return HttpClientResponse.fromWeb(
                response.request,
                new Response(mapped === undefined ? text : JSON.stringify({ error: mapped }), {
                  status: response.status,
                  headers: { ...response.headers, "content-type": "application/json" }
                })
              )
            })
      )

const withUsage = ({ usage }: Dialect, from: Fields, to: Fields): Fields => {
  const mapped = usage?.(from)
  return mapped === undefined ? to : { ...to, usage: mapped }
}

/** The JSON body of a response in the interface's form. */
export const interfaceBody = (dialect: Dialect, operation: OperationName, bytes: Buffer): Buffer => {
  const { response, task, usage } = dialect
  if (response === undefined && usage === undefined && task === undefined) return bytes
  const body = parseJson(bytes.toString())
  if (!Predicate.isObject(body)) return bytes
  const mapped = withUsage(dialect, body, response?.(operation, body) ?? body)
  const isTask = operation === "videos" || (operation === "images" && !Array.isArray(mapped["data"]))
  return Buffer.from(
    JSON.stringify(isTask && task !== undefined ? { ...mapped, status: task.status(body) } : mapped)
  )
}

/** The data of an event in the interface's form, with the space after `data:`; undefined drops the event. */
export const interfaceEvent = (dialect: Dialect, data: string): string | undefined => {
  const body = parseJson(data)
  if (!Predicate.isObject(body)) return data
  const mapped = dialect.event === undefined ? body : dialect.event(body)
  return mapped === undefined ? undefined : ` ${JSON.stringify(withUsage(dialect, body, mapped))}`
}

/** Whether the dialect does not map events. */
export const keepsEvents = ({ event, usage }: Dialect): boolean => event === undefined && usage === undefined
