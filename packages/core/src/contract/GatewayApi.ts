/** The contract: every group of the gateway in one `HttpApi`. Client, handlers and OpenAPI are derived from it. */
import { HttpApi, OpenApi } from "effect/http-api"
import { AccountGroup } from "./Account.ts"
import { ChatGroup } from "./Chat.ts"
import { EmbeddingsGroup } from "./Embeddings.ts"
import { ImagesGroup } from "./Images.ts"
import { ModelsGroup } from "./Models.ts"
import { RerankGroup } from "./Rerank.ts"
import { VideosGroup } from "./Videos.ts"
import { documentFields } from "./OpenApiDocument.ts"
import { MalformedRequest } from "./MalformedRequest.ts"

/** The version of the packages. */
export const PACKAGE_VERSION = "0.1.0"

const Calls = HttpApi.make("sluice")
  .add(RerankGroup, EmbeddingsGroup, ChatGroup, VideosGroup, ImagesGroup, ModelsGroup, AccountGroup)
  .middleware(MalformedRequest)

/**
 * The gateway's API. Join it with groups of your own:
 *
 * ```ts
 * const Api = HttpApi.make("server").addHttpApi(GatewayApi).add(MyGroup)
 * ```
 *
 * A joined group keeps its own middlewares. Each group has its own file in this folder.
 */
export const GatewayApi = Calls.annotateMerge(
  OpenApi.annotations({
    title: "Sluice",
    version: PACKAGE_VERSION,
    transform: documentFields(Calls),
    description:
      "One gateway to models of several providers: rerank, embeddings, chat, videos, images, account."
  })
)
