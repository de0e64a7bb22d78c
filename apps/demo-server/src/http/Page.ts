/** The page at `/`: what Vite built into `dist-web` when the package was installed. */
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

/** Characters of a path at most that a file is looked for at: file systems take names of 255 bytes. */
const MAX_PATH = 200

/** Everything from this origin; nothing from another. Styles may be inline: the trace is drawn with them. */
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
  "The page is not built: run `npm run build:web`, then load this again\n",
  {
    status: 200
  }
)

/** Names under `/assets/` carry a hash of what is in them; the rest is asked for again each time. */
const cacheControl = (url: string): string =>
  url.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache"

export const PageLayer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const files = yield* Effect.orDie(HttpStaticServer.make({ root: BUILT }))
    const page = Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { url } = request
      // No file of ours; the file system would fail on the name instead of not finding it.
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
