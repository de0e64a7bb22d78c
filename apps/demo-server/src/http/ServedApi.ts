/** The endpoints as `HttpApiBuilder` serves them. */
import { Record } from "effect"
import { ServerApi } from "../contract/ServerApi.ts"

interface Endpoint {
  readonly middlewares: ReadonlySet<object>
}

/** A view of an object with other values for some fields. */
const withFields = <A extends object>(base: A, fields: object): A =>
  Object.create(base, Object.getOwnPropertyDescriptors(fields))

const groups: Record<string, { readonly endpoints: Record<string, Endpoint> }> = ServerApi.groups

const error: ReadonlySet<never> = new Set()

/**
 * Without the schemas of errors, which are for the document and for clients: a `Failure` is a response by itself. The thousand
 * encoders of these schemas took a fifth of the time in which a server builds its layers.
 */
export const ServedApi = withFields(ServerApi, {
  groups: Record.map(groups, (group) =>
    withFields(group, {
      endpoints: Record.map(group.endpoints, (endpoint) =>
        withFields(endpoint, {
          error,
          middlewares: new Set([...endpoint.middlewares].map((each) => withFields(each, { error })))
        })
      )
    })
  )
})
