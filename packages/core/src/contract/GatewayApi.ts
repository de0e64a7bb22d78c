/** The contract: every group of the gateway in one `HttpApi`. Client, handlers and OpenAPI are derived from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { AccountGroup } from "./Account.ts"
import { ChatGroup } from "./Chat.ts"
import { EmbeddingsGroup } from "./Embeddings.ts"
import { ImagesGroup } from "./Images.ts"
import { ModelsGroup } from "./Models.ts"
import { RerankGroup } from "./Rerank.ts"
import { VideosGroup } from "./Videos.ts"
import { MalformedRequest } from "./MalformedRequest.ts"

type Node = Record<string, unknown>

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null

/**
 * Takes `additionalProperties: false` out of a document, and with `propertyNames` how undeclared fields are told apart:
 * they are tolerated, not refused.
 *
 * For `OpenApi.Transform`, on the API that is served: annotations of an API that was joined to it do not reach there.
 */
export const tolerant = <Document extends Node>(document: Document): Document => {
  for (const [key, value] of Object.entries(document)) {
    if (key === "propertyNames" || (key === "additionalProperties" && value === false)) delete document[key]
    else if (isNode(value)) tolerant(value)
  }
  return document
}

/**
 * The gateway's API. Join it with groups of your own:
 *
 * ```ts
 * const Api = HttpApi.make("server").addHttpApi(GatewayApi).add(MyGroup)
 * ```
 *
 * A group joined so brings its own middlewares. Each group has a file of its own name beside this one.
 */
export const GatewayApi = HttpApi.make("sluice")
  .add(RerankGroup, EmbeddingsGroup, ChatGroup, VideosGroup, ImagesGroup, ModelsGroup, AccountGroup)
  .middleware(MalformedRequest)
  .annotateMerge(
    OpenApi.annotations({
      title: "Sluice",
      version: "0.1.0",
      transform: tolerant,
      description:
        "One gateway to models of several providers: rerank, embeddings, chat, videos, images, account."
    })
  )
