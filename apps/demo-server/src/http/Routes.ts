/** Which route a path is, and which methods it takes: a wrong method is told apart from a wrong path. */
import { ServerApi } from "../contract/ServerApi.ts"

/** What is served beside the contract, for reading only. */
const PAGES = new Set(["/", "/docs", "/healthz", "/readyz", "/metrics", "/openapi.json"])

const routes = Object.values(ServerApi.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({
    method,
    path,
    pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`)
  }))
)

/** The methods of a path; none for a path that is not there. */
export const methodsOf = (url: string): ReadonlyArray<string> => {
  const path = url.split("?", 1)[0] ?? ""
  if (PAGES.has(path)) return ["GET"]
  return routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}

/** Most calls are of a path without parameters: those are looked up. */
const literal = new Set([...PAGES, ...routes.map(({ path }) => path).filter((path) => !path.includes(":"))])

const FILES = /^\/(files|assets)\//

/** The route of a path, as the contract writes it; what is not there is one route, whatever it is called. */
export const routeOf = (url: string): string => {
  const path = url.split("?", 1)[0] ?? ""
  if (literal.has(path)) return path
  const [, folder] = FILES.exec(path) ?? []
  if (folder !== undefined) return `/${folder}/:name`
  return routes.find(({ pattern }) => pattern.test(path))?.path ?? "other"
}
