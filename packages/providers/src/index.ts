/** The protocols of vendors behind the gateway's interface. */
export { DIALECTS, Dialects } from "./dialects/index.ts"
export { gateway } from "./dialects/gateway.ts"
export type * from "./protocol/Dialect.ts"
export { type DialectConnection, joinUrl, makeDialectClient } from "./protocol/DialectClient.ts"
