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
import { tolerant } from "./OpenApiTolerance.ts"

/**
 * The gateway's API. Join it with groups of your own:
 *
 * ```ts
 * const Api = HttpApi.make("server").addHttpApi(GatewayApi).add(MyGroup)
 * ```
 *
 * A group joined so brings its own middlewares. Each group has a file of its name in `endpoints/`.
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
