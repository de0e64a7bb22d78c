export * from "./Answer.ts"
export * from "./Document.ts"
export * from "./RagError.ts"
export * from "./Trace.ts"
