/** The state that the checks of one run share: permissions, and what earlier checks created. */
import type { Duration, Effect, Redacted } from "effect"
import type { ImageGroup } from "../../contract/ImageModels.ts"
import type { VideoGroup } from "../../contract/VideoModels.ts"
import type { ApiKey, SystemAccessToken } from "../../contract/Credentials.ts"

/** The purpose of a model. A `twoStepImage` model returns a task; an `image` model may do either. */
export type ModelPurpose = "embedding" | "rerank" | "chat" | "image" | "twoStepImage" | "video"

/** An effect that must be allowed: spending money, changing the account, revoking the system access token. */
export type Permission = "paid" | "write" | "rotate"

export interface ConformanceOptions {
  /** The gateway's URL, without `/v1` or `/api`. */
  readonly baseUrl: string | URL
  readonly apiKey: ApiKey
  /** If absent, the calls of `/api` are skipped. */
  readonly accessToken?: SystemAccessToken | undefined
  /** Allows calls that cost more than an embedding. */
  readonly paid?: boolean
  /** Allows creating, changing and deleting a token. */
  readonly write?: boolean
  /** Allows `GET /api/user/token`, which revokes the system access token. */
  readonly rotate?: boolean
  /** The models to call. Default: the first listed with the matching `operation`, or with the purpose in its id. */
  readonly models?: { readonly [Of in ModelPurpose]?: string | undefined }
  /** The groups of the models for images and videos, whose rules are then checked too. */
  readonly groups?: { readonly image?: ImageGroup | undefined; readonly video?: VideoGroup | undefined }
  /** Limit of one request and its response. Default: 1 minute, 5 minutes for paid calls. */
  readonly timeout?: Duration.Input | undefined
  /** Time between two polls of a task. Default: 15 seconds for videos, 5 for images. */
  readonly pollInterval?: Duration.Input | undefined
  /** How long a task may take. Default: 15 minutes. */
  readonly taskTimeout?: Duration.Input | undefined
  /** Receives the new system access token. Without it the new token is lost. */
  readonly onRotated?: ((token: SystemAccessToken) => Effect.Effect<void>) | undefined
}

/** Written by one check and read by later ones. */
export interface Session {
  readonly baseUrl: string
  readonly options: ConformanceOptions
  /** A random part of the name of the check's own token. */
  readonly run: string
  /** The models to call. A guessed model that was refused is removed. */
  readonly models: { [Of in ModelPurpose]?: string | undefined }
  /** Secrets that the report must not contain. */
  readonly secrets: Array<Redacted.Redacted>
  accessToken: SystemAccessToken | undefined
  video?: { readonly id: string; readonly firstStatus: unknown; ended?: "completed" | "failed" }
  imageTask?: string | undefined
  /** The token that the check created. */
  token?: { readonly id: number; readonly name: string; readonly key: ApiKey | undefined } | undefined
  /** A token that existed before. */
  listed?: { readonly id: number; readonly name: string }
}
