/** What the checks of one run share: what they may do, and what earlier ones left for later ones. */
import type { Duration, Effect, Redacted } from "effect"
import type { ApiKey, SystemAccessToken } from "../../contract/Credentials.ts"

/** What a model is called for. `twoStepImage` answers with a task, `image` in either way. */
export type Purpose = "embedding" | "rerank" | "chat" | "image" | "twoStepImage" | "video"

/** What a call does that has to be allowed: spends money, changes the account, ends the system access token. */
export type Permission = "paid" | "write" | "rotate"

export interface ConformanceOptions {
  /** Where the gateway is; the paths begin at its end with `/v1` and `/api`. */
  readonly baseUrl: string | URL
  readonly apiKey: ApiKey
  /** Without it the calls of `/api` are skipped. */
  readonly accessToken?: SystemAccessToken | undefined
  /** Allows calls that cost more than an embedding. */
  readonly paid?: boolean
  /** Allows the check to create a token, to change it and to delete it. */
  readonly write?: boolean
  /** Allows `GET /api/user/token`, which ends the system access token. */
  readonly rotate?: boolean
  /** The models to call. One that is not named is the first of the gateway's lists that is said to be for it (`operation`), or has the word in its id. */
  readonly models?: { readonly [Of in Purpose]?: string | undefined }
  /** For one request and its whole answer: 1 minute when not given, 5 minutes for paid ones. */
  readonly timeout?: Duration.Input | undefined
  /** Between two looks at a task: 15 seconds for videos and 5 for images when not given. */
  readonly pollEvery?: Duration.Input | undefined
  /** How long a task may take: 15 minutes when not given. */
  readonly patience?: Duration.Input | undefined
  /** Is given the new system access token, which ends the old one; otherwise it is lost. */
  readonly onRotated?: ((token: SystemAccessToken) => Effect.Effect<void>) | undefined
}

/** Written by one check, read by those after it. */
export interface Session {
  readonly baseUrl: string
  readonly options: ConformanceOptions
  /** A word that no token's name has: the check's own token is named after it. */
  readonly run: string
  /** Those that are called; one that was guessed and refused is no longer among them. */
  readonly models: { [Of in Purpose]?: string | undefined }
  /** None of them may be told. */
  readonly secrets: Array<Redacted.Redacted>
  accessToken: SystemAccessToken | undefined
  video: { readonly id: string; ended?: "completed" | "failed" } | undefined
  imageTask: string | undefined
  /** The token that the check created. */
  token: { readonly id: number; readonly name: string; readonly key: ApiKey | undefined } | undefined
  /** A token that was there before. */
  listed: { readonly id: number; readonly name: string } | undefined
}
