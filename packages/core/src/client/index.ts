/** The client: the only entry that brings a transport. */
export * as AccountClient from "./AccountClient.ts"
export * as BatchedEmbeddings from "./BatchedEmbeddings.ts"
export * as GatewayClient from "./GatewayClient.ts"
export { BATCH, type BatchLimits } from "./Batches.ts"
export * from "./Call.ts"
export { concealer } from "./Conceal.ts"
export * from "./CircuitBreaker.ts"
export type { ClientOptions } from "./ClientOptions.ts"
export { DirectTransport, type Outcome, type Post, posted, type Rest, type Usual } from "./Direct.ts"
export type { EmbedOptions } from "./Embed.ts"
export { type Answer, exchange, type Problem, requestIdOf } from "./Exchange.ts"
export type { Facts } from "./Facts.ts"
export { type Guard, Guards } from "./Guard.ts"
export { withIdempotencyKey } from "./Idempotency.ts"
export * from "./RateLimit.ts"
export type { TaskPatience } from "./Tasks.ts"
export { GatewayMetrics } from "./Telemetry.ts"
export { REDIRECTED } from "./Refusal.ts"
export { reasonTold, type Told, toldIn } from "./Told.ts"
export {
  CONNECTIONS,
  DownloadTransport,
  layerTransport,
  MAX_RESPONSE_BYTES,
  type TransportOptions
} from "./Transport.ts"
export type { ImagesOptions } from "./Images.ts"
export type { VideosOptions } from "./Videos.ts"
export { TaskId } from "../endpoints/TaskId.ts"
export { jsonIn } from "../Json.ts"
export * from "../RetryPolicy.ts"
