/** Images as bytes: sources, data URIs, formats, sizes, and their cost in tokens. */
export * from "./ImageFormat.ts"
export * from "./ImageSource.ts"
export * from "./ImageTokens.ts"
