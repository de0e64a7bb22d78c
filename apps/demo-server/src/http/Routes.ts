/** The route and the methods of a path, which tell a wrong method from a wrong path. */
import { ServerApi } from "../contract/ServerApi.ts"

/** Paths outside of the contract, all of them GET. */
const PAGES = new Set(["/", "/docs", "/healthz", "/readyz", "/metrics", "/openapi.json"])

/** Paths that load balancers and monitors call by address. They read no cookie. */
const PROBES = new Set(["/healthz", "/readyz", "/metrics"])

/** The Model Context Protocol, which has no contract here. */
const MCP = "/mcp"

/** Whether a request may have any `Host`. */
export const isProbe = (url: string): boolean => PROBES.has(url.split("?", 1)[0] ?? "")

const routes = Object.values(ServerApi.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`)
  }))
)

/** The methods of a path; none if the path does not exist. */
export const methodsOf = (url: string): ReadonlyArray<string> => {
  const path = url.split("?", 1)[0] ?? ""
  if (PAGES.has(path)) return ["GET"]
  if (path === MCP) return ["POST", "DELETE"]
  return routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}

/** Paths without parameters, which most requests have. */
const literal = new Set([
  ...PAGES,
  MCP,
  ...routes.map(({ path }) => path).filter((path) => !path.includes(":"))
])

const FILES = /^\/(files|assets)\//

/** The route of a path as the contract writes it; `other` for unknown paths. */
export const routeOf = (url: string): string => {
  const path = url.split("?", 1)[0] ?? ""
  if (literal.has(path)) return path
  const [, folder] = FILES.exec(path) ?? []
  if (folder !== undefined) return `/${folder}/:name`
  return routes.find(({ pattern }) => pattern.test(path))?.path ?? "other"
}
