/** `/mcp`: the tools over streamable HTTP, for callers with an API key. */
import { Failure } from "@sluice/core/contract"
import { RagError } from "@sluice/rag"
import { Effect, Layer } from "effect"
import { McpServer } from "effect/ai"
import { HttpEffect, HttpRouter, HttpServerRequest } from "effect/http"
import { makeDocumentsAccess } from "../accounts/Auth.ts"
import { CurrentUser } from "../contract/Access.ts"
import { DEFAULT_COLLECTION, referenceOf } from "../contract/Names.ts"
import { makeCallerDocuments } from "../documents/CallerDocuments.ts"
import { makeCallerQuestions } from "../documents/CallerQuestions.ts"
import { respond } from "../http/HttpErrors.ts"
import { messageOf } from "../libraries/RagFailure.ts"
import { UserLibraries } from "../libraries/UserLibraries.ts"
import { Members } from "../sharing/Members.ts"
import { makeMcpSessions, SESSION_HEADER } from "./McpSessions.ts"
import { MCP_OPTIONS, type McpDocuments, toolsLayer } from "./Tools.ts"

/** A page of another site must not use the server of its visitor. Programs send no `Origin`. */
const fromBrowser = new Failure({
  status: 403,
  message: "Pages in a browser may not use /mcp. Connect from a program, with an API key",
  code: "cross_origin"
})

const unknownSession = new Failure({
  status: 404,
  message: "Unknown or expired session. Send `initialize` to start a new one",
  code: "session_not_found"
})

/** Documents of the current user. */
const makeCallersDocuments = Effect.gen(function* () {
  const libraries = yield* UserLibraries
  const members = yield* Members
  const { library } = yield* makeCallerDocuments
  const { prepare, withCost } = yield* makeCallerQuestions
  const documents: McpDocuments<
    Effect.Services<ReturnType<typeof library>> | Effect.Services<ReturnType<typeof prepare>>
  > = {
    collections: Effect.gen(function* () {
      const { user } = yield* CurrentUser
      const names = yield* (yield* libraries.of(user)).names
      const shared = yield* members.shared(user)
      return [
        ...[...new Set([DEFAULT_COLLECTION, ...names])].toSorted(),
        ...shared.map(({ collection, owner_id }) => referenceOf(collection, owner_id))
      ]
    }),
    library: (collection) => library({ collection }),
    prepare,
    withCost,
    messageOf: (error) => (error instanceof RagError ? messageOf(error) : error.message)
  }
  return documents
})

export const McpLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const access = yield* makeDocumentsAccess
    const registrations = toolsLayer(yield* makeCallersDocuments)
    // Its routes stay behind the checks below.
    const inner = yield* HttpRouter.make
    yield* Layer.build(
      McpServer.layerHttp({
        ...MCP_OPTIONS,
        path: "/mcp",
        allowSessionTermination: true,
        allowSubscriptions: false,
        registrations
      }).pipe(Layer.provide(Layer.succeed(HttpRouter.HttpRouter, inner)))
    )
    // @effect-diagnostics-next-line anyUnknownInErrorContext:off -- the router's type
    const server = Effect.orDie(inner.asHttpEffect())
    const sessions = makeMcpSessions(server)

    const serve = Effect.gen(function* () {
      const { user } = yield* CurrentUser
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const session = headers[SESSION_HEADER]
      if (session !== undefined && !sessions.use(user, session)) return yield* unknownSession
      const response = yield* server
      // The server's own handler adds the header first.
      yield* HttpEffect.appendPreResponseHandler((_request, response) =>
        Effect.as(sessions.record(user, response.headers[SESSION_HEADER]), response)
      )
      return response
    })
    yield* router.add("*", "/mcp", (http) =>
      Effect.gen(function* () {
        if (http.headers["origin"] !== undefined) return yield* fromBrowser
        return yield* access(http, serve)
      }).pipe(Effect.catchTag("Failure", (failure) => Effect.succeed(respond(failure))))
    )
  })
)
