/** A vendor of images and videos, and what it gets for requests of the interface. */
import type { Effect, Scope } from "effect"
import { type Fields, type MediaVendor, PNG } from "./fakes/MediaVendor.ts"

export const PICTURE = `data:image/png;base64,${PNG.toString("base64")}`
export const LINK = "https://pictures.example/first.png"

/** A request, and what the vendor gets for it. */
interface Case {
  readonly request: Fields
  readonly path: string
  readonly body: Fields
}

/** A model of images. */
export interface ImageCases {
  readonly model: string
  /** `once`: the creation has the images. */
  readonly mode: "task" | "once"
  /** Images in a call at most. */
  readonly perCall?: 1
  /** What the vendor reports for a creation. */
  readonly usage?: Fields
  /** A moderated prompt is answered without an image. */
  readonly blocks?: true
  /** Images that the vendor fails to make. */
  readonly lost?: number
  readonly cases: ReadonlyArray<Case>
}

export interface VendorCases {
  readonly dialect: string
  readonly start: Effect.Effect<MediaVendor, never, Scope.Scope>
  readonly key: string
  /** The part of the vendor's address after its origin. */
  readonly base?: string
  readonly images: readonly [ImageCases, ...Array<ImageCases>]
  readonly videos?: {
    readonly model: string
    /** What the vendor reports for a request without `seconds`. */
    readonly seconds?: string
    /** Of a running task, from 0 to 100. */
    readonly progress?: number
    readonly cases: ReadonlyArray<Case>
  }
  /** A request that the vendor refuses, and the field that it names, if it does. */
  readonly wrong: { readonly request: Fields; readonly param?: string; readonly whenRun?: true }
  /** The request that removes a task. */
  readonly removal?: string
  /** Files are at the vendor's own address, and need the key. */
  readonly ownFiles?: true
  /** The code of a prompt that is refused, if the dialect passes errors unchanged. */
  readonly moderationCode?: string
  /** Refuses a prompt only when the task runs. */
  readonly moderatesLate?: true
}
