/** Which user opened which MCP session. */
import { Effect, type Scope } from "effect"
import { HttpServerRequest, type HttpServerResponse } from "effect/http"

export const SESSION_HEADER = "mcp-session-id"

/** Sessions of one user. The server would keep each for ever, and its first message with it. */
const MAX_SESSIONS = 100

/**
 * Sessions end when their client deletes them, or when their user has opened `MAX_SESSIONS` others since their last use.
 * A client whose session ended starts another.
 */
export const makeMcpSessions = <E>(
  server: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    E,
    HttpServerRequest.HttpServerRequest | Scope.Scope
  >
) => {
  /** By user, least recently used first. */
  const sessions = new Map<string, Set<string>>()

  const end = (session: string) => {
    const request = new Request("http://localhost/mcp", {
      method: "DELETE",
      headers: { [SESSION_HEADER]: session }
    })
    return server.pipe(
      Effect.provideService(HttpServerRequest.HttpServerRequest, HttpServerRequest.fromWeb(request)),
      Effect.scoped,
      Effect.ignoreCause
    )
  }

  return {
    /** Whether the session is the user's. */
    use: (user: string, session: string): boolean => {
      const own = sessions.get(user)
      if (own?.delete(session) !== true) return false
      own.add(session)
      return true
    },
    /** Records the session that a response opened, if any, and ends the user's oldest one above the limit. */
    record: Effect.fnUntraced(function* (user: string, session: string | undefined) {
      if (session === undefined) return
      const own = sessions.get(user) ?? new Set<string>()
      sessions.set(user, own.add(session))
      const [oldest] = own
      if (own.size <= MAX_SESSIONS || oldest === undefined) return
      own.delete(oldest)
      yield* end(oldest)
    })
  }
}
