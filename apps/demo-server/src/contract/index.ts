/** What the server adds to the gateway's contract: documents, questions, sessions, status. Pure. */
export * from "./Access.ts"
export * from "./Answer.ts"
export * from "./Document.ts"
export * from "./Documents.ts"
export * from "./Qa.ts"
export * from "./ServerApi.ts"
export * from "./Session.ts"
export * from "./Status.ts"
