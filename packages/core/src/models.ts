/** The models' services, and the types of their requests and results: what a model of your own implements. */
import "./NodeVersion.ts"
export * from "./models/Embedder.ts"
export * from "./models/NotRead.ts"
export * from "./models/QuestionRewriter.ts"
export * from "./models/Reader.ts"
export * from "./models/Reranker.ts"
export * from "./models/Verifier.ts"
export * from "./models/Vision.ts"
