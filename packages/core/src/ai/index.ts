/** Effect's own AI services over the gateway: an entry of its own, for they are large. */
export * from "./AiFailure.ts"
export type { ImageOptions } from "./ChatMessages.ts"
export * as GatewayEmbeddingModel from "./GatewayEmbeddingModel.ts"
export * as GatewayLanguageModel from "./GatewayLanguageModel.ts"
