/** The client: the only entry that brings a transport. */
export * as AccountClient from "./AccountClient.ts"
export * as GatewayClient from "./GatewayClient.ts"
export * from "./Batches.ts"
export * from "./Call.ts"
export * from "./ClientOptions.ts"
export * from "./Embed.ts"
export { exchange } from "./Exchange.ts"
export * from "./Transport.ts"
