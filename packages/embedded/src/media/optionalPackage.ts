/** The packages that making media needs. */
import { optionalPackageFor } from "../optionalPackage.ts"
import type { MediaOperation } from "./MediaRequest.ts"

const PACKAGES = { images: ["sharp"], videos: ["sharp", "h264-mp4-encoder"] }

/** The module, or an error that says how to install its package. */
export const optionalPackage = (operation: MediaOperation) =>
  optionalPackageFor({ operation, doing: `Making ${operation}`, packages: PACKAGES[operation] })
