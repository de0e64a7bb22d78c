export * as Local from "./Local.ts"
export type { LocalOptions } from "./Local.ts"
export * as LlamaReader from "./LlamaReader.ts"
export * as TransformersEmbedder from "./TransformersEmbedder.ts"
export * as TransformersReader from "./TransformersReader.ts"
export * as TransformersReranker from "./TransformersReranker.ts"
export * as TransformersVerifier from "./TransformersVerifier.ts"
export {
  bytesOf,
  type CatalogueFile,
  type CatalogueModel,
  type LocalCatalogue
} from "./catalogue/CatalogueModel.ts"
export { findModels, modelCatalogue } from "./catalogue/FindModels.ts"
export type { LlamaModelOptions } from "./ChatModel.ts"
export { memoryShortage } from "./store/ModelMemory.ts"
export type { Pooling } from "./Pooling.ts"
export { DownloadLimits } from "./store/Download.ts"
export { damagedFiles, folderOf, missingFiles, modelsFolder, removeModel } from "./store/ModelFolder.ts"
export { pullModel, type PullOptions } from "./store/PullModel.ts"
export type { TransformersModelOptions } from "./ModelJobs.ts"
