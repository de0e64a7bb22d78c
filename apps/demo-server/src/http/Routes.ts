/** Which methods a path of the contract takes: a wrong method is told apart from a wrong path. */
import { ServerApi } from "../contract/ServerApi.ts"

/** What is served beside the contract, for reading only. */
const PAGES = new Set(["/", "/docs", "/healthz", "/readyz", "/openapi.json"])

const routes = Object.values(ServerApi.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({
    method,
    pattern: new RegExp(`^${path.replaceAll(/:[^/]+/g, "[^/]+")}$`)
  }))
)

/** The methods of a path; none for a path that is not there. */
export const methodsOf = (url: string): ReadonlyArray<string> => {
  const path = url.split("?", 1)[0] ?? ""
  if (PAGES.has(path)) return ["GET"]
  return routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method)
}
