export * from "./GatewayError.ts"
export * from "./models/Embedder.ts"
export * from "./models/Reader.ts"
export * from "./models/Reranker.ts"
