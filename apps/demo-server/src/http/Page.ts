/** The page at `/`, which Vite built into `dist-web`. */
import { Effect } from "effect"
import {
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse,
  HttpStaticServer
} from "effect/http"
import { fileURLToPath } from "node:url"

const BUILT = fileURLToPath(new URL("../../dist-web", import.meta.url))

/** Characters of a file's path at most: file systems allow names of 255 bytes. */
const MAX_PATH = 200

/** Allows this origin only. Inline styles draw the trace. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "media-src 'self' blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'"
].join("; ")

const notBuilt = HttpServerResponse.text(
  "The page is not built: run `npm run build:web`, then load this again\n"
)

/** Names under `/assets/` have a content hash; other files are revalidated. */
const cacheControl = (url: string): string =>
  url.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache"

export const PageLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const files = yield* Effect.orDie(HttpStaticServer.make({ root: BUILT }))
    const page = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { url } = request
      // The file system would fail on a name that is too long.
      if ((url.split("?", 1)[0] ?? "").length > MAX_PATH) {
        return yield* new HttpServerError.HttpServerError({
          reason: new HttpServerError.RouteNotFound({ request })
        })
      }
      const response = yield* files
      return HttpServerResponse.setHeaders(response, {
        "cache-control": cacheControl(url),
        "content-security-policy": POLICY
      })
    })
    yield* router.add(
      "GET",
      "/",
      Effect.catchTag(page, "HttpServerError", () => Effect.succeed(notBuilt))
    )
    yield* router.add("GET", "/*", page)
  })
)
