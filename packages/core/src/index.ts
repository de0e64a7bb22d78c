/**
 * What a program needs: the services `Gateway` and `Account`, their calls, `GatewayError` and its reasons, the models'
 * services, quotas and retry policies.
 *
 * Schemas of the wire are in `@sluice/core/contract`, images as bytes in `@sluice/core/media`, the client in
 * `@sluice/core/client`.
 */
export { Expiry, NEVER_EXPIRES } from "./contract/Account.ts"
export type { ChatMessage, ImageDetail } from "./contract/Chat.ts"
export { MAX_IMAGE_BYTES } from "./contract/ImageLimits.ts"
export { ApiKey, apiKey, SystemAccessToken, systemAccessToken } from "./contract/Credentials.ts"
export type { Extra } from "./contract/Fields.ts"
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
export type { ImageCall, ImageGroup, ImageSource } from "./contract/ImageModels.ts"
export type { Model, ModelGroup } from "./contract/Models.ts"
export { formatQuota, Quota, quota, quotaOfUsd, UNITS_PER_USD, usdOf } from "./contract/Quota.ts"
export type { VideoCall, VideoGroup } from "./contract/VideoModels.ts"
export type { Video } from "./contract/Videos.ts"
export * from "./gateway/Account.ts"
export { chatImageTokens, imagePart, userMessage } from "./gateway/ChatImages.ts"
export * from "./gateway/Gateway.ts"
export type { GeneratedImage, ImageAnswer, ImageWaitOptions, Images } from "./gateway/Images.ts"
export { ModelCatalogue } from "./gateway/ModelCatalogue.ts"
export {
  CurrentRetryPolicy,
  RETRY,
  RETRY_NEVER,
  type RetryPolicy,
  withRetryPolicy
} from "./gateway/RetryPolicy.ts"
export {
  type DownloadedVideo,
  type VideoWaitOptions,
  type Videos,
  videoExpiry,
  videoProgress
} from "./gateway/Videos.ts"
export { carrySubject } from "./conversation/CarrySubject.ts"
export { dependsOnHistory } from "./conversation/FollowUp.ts"
export * as GatewayRewriter from "./conversation/GatewayRewriter.ts"
export * from "./models/Embedder.ts"
export * as GatewayEmbedder from "./models/GatewayEmbedder.ts"
export * as GatewayReranker from "./models/GatewayReranker.ts"
export * as GatewayVision from "./models/GatewayVision.ts"
export { notRead, type NotRead, type NotReadReason } from "./models/NotRead.ts"
export * from "./models/QuestionRewriter.ts"
export * from "./models/Reader.ts"
export * from "./models/Reranker.ts"
export * from "./models/Verifier.ts"
export * from "./models/Vision.ts"
export * as GatewayReader from "./readers/GatewayReader.ts"
export * as GatewayVerifier from "./readers/GatewayVerifier.ts"
export { LIST_SIGN } from "./readers/ProseSentences.ts"
export { unsupportedReason } from "./readers/Support.ts"
export { contentWords, isSameWord, sharedWords } from "./readers/ContentWords.ts"
export { followsQuotes } from "./readers/WordOrder.ts"
export { findQuote, isProof } from "./readers/Quote.ts"
