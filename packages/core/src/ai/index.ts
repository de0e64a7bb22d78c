/** Effect's AI services over the gateway. A separate entry, because they are large. */
import "../NodeVersion.ts"
export * from "./AiFailure.ts"
export type { ImageOptions } from "./ChatMessages.ts"
export * as GatewayEmbeddingModel from "./GatewayEmbeddingModel.ts"
export * as GatewayLanguageModel from "./GatewayLanguageModel.ts"
