export * as TransformersEmbedder from "./TransformersEmbedder.ts"
export * as TransformersReranker from "./TransformersReranker.ts"
export type { Pooling } from "./Pooling.ts"
export type { TransformersModelOptions } from "./TransformersModel.ts"
