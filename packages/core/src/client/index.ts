/** The client: the only entry that brings a transport. */
export * as AccountClient from "./account/AccountClient.ts"
export * as BatchedEmbeddings from "./retrieval/BatchedEmbeddings.ts"
export * as GatewayClient from "./GatewayClient.ts"
export { BATCH, type BatchLimits } from "./retrieval/Batches.ts"
export * from "./call/Caller.ts"
export { makeRedact } from "./call/Redact.ts"
export * from "./call/CircuitBreaker.ts"
export type { ClientOptions } from "./call/ClientOptions.ts"
export type { EmbedOptions } from "./retrieval/EmbedAll.ts"
export type { AttemptFailure, CallResult, ResponseMetadata } from "./transport/CallResult.ts"
export { sendAndDecode } from "./transport/SendAndDecode.ts"
export { type AttemptMiddleware, currentMiddleware } from "./call/CallInfo.ts"
export { withIdempotencyKey } from "./transport/Outgoing.ts"
export * from "./call/RateLimit.ts"
export type { PollOptions } from "./media/Tasks.ts"
export { GatewayMetrics } from "./call/Telemetry.ts"
export { REDIRECTED } from "./transport/Refusal.ts"
export { reasonOfErrorDetails, type ErrorDetails, parseErrorBody } from "./transport/ErrorDetails.ts"
export {
  CONNECTIONS,
  DownloadTransport,
  layerTransport,
  MAX_RESPONSE_BYTES,
  type TransportOptions
} from "./transport/Transport.ts"
export { BufferResponse } from "./transport/BufferedTransport.ts"
export type { ImagesOptions } from "./media/Images.ts"
export type { VideosOptions } from "./media/Videos.ts"
export { TaskId } from "../contract/Fields.ts"
export { parseJson } from "../contract/Fields.ts"
export * from "../gateway/RetryPolicy.ts"
export * from "../gateway/UpstreamHealth.ts"
