/**
 * What a program needs: the services `Gateway` and `Account`, their calls and answers, `GatewayError` and its reasons, the
 * models' services, quotas and retry policies.
 *
 * `@sluice/core/contract` has all schemas of the wire, `/client` the transport and its options, `/models` the types for a
 * model of your own, `/text` the rules for quotes and questions, `/media` images as bytes.
 */
import "./NodeVersion.ts"
export type { ChatMessage } from "./contract/Chat.ts"
export { ApiKey, apiKey, SystemAccessToken, systemAccessToken } from "./contract/Credentials.ts"
export {
  ContentFiltered,
  Forbidden,
  GatewayError,
  GatewayReason,
  InsufficientQuota,
  InvalidRequest,
  InvalidResponse,
  NotFound,
  PartialFailure,
  RateLimited,
  ServerFailure,
  TaskFailed,
  TimedOut,
  Unauthorized,
  Unreachable
} from "./contract/GatewayError.ts"
export type { ImageCall } from "./contract/ImageModels.ts"
export { Model } from "./contract/Models.ts"
export { formatQuota, Quota, quota, quotaOfUsd, UNITS_PER_USD, usdOf } from "./contract/Quota.ts"
export type { VideoCall } from "./contract/VideoModels.ts"
export { Video } from "./contract/Videos.ts"
export { Account, type NewToken, Token, User } from "./gateway/Account.ts"
export { chatImageTokens, imagePart, userMessage } from "./gateway/ChatImages.ts"
export {
  ChatAnswer,
  type ChatCall,
  ChatPart,
  Embeddings,
  type EmbeddingsCall,
  Gateway,
  RerankAnswer,
  type RerankCall
} from "./gateway/Gateway.ts"
export { ImageAnswer } from "./gateway/Images.ts"
export { ModelCatalogue } from "./gateway/ModelCatalogue.ts"
export { RETRY_NEVER, type RetryPolicy, withRetryPolicy } from "./gateway/RetryPolicy.ts"
export { DownloadedVideo, videoExpiry, videoProgress } from "./gateway/Videos.ts"
export * as GatewayRewriter from "./conversation/GatewayRewriter.ts"
export { Embedder } from "./models/Embedder.ts"
export * as GatewayEmbedder from "./models/GatewayEmbedder.ts"
export * as GatewayReranker from "./models/GatewayReranker.ts"
export * as GatewayVision from "./models/GatewayVision.ts"
export { QuestionRewriter } from "./models/QuestionRewriter.ts"
export { Reader } from "./models/Reader.ts"
export { Reranker } from "./models/Reranker.ts"
export { Verifier } from "./models/Verifier.ts"
export { Vision } from "./models/Vision.ts"
export * as GatewayReader from "./readers/GatewayReader.ts"
export * as GatewayVerifier from "./readers/GatewayVerifier.ts"
