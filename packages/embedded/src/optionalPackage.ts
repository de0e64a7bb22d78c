/** Optional packages: loaded when needed, and named in the error when missing. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

/** The packages of each operation. */
const PACKAGES = {
  images: ["sharp"],
  videos: ["sharp", "h264-mp4-encoder"],
  vision: ["sharp", "tesseract.js", "@tesseract.js-data/eng", "@tesseract.js-data/chi_sim"]
}

/** The start of the error message. */
const PURPOSE = { images: "Making images", videos: "Making videos", vision: "Reading pictures" }

/** Loads a package of an operation. The error says how to install all packages of the operation. */
export const optionalPackage =
  (operation: keyof typeof PACKAGES, packages: ReadonlyArray<string> = PACKAGES[operation]) =>
  <A>(name: string, load: () => Promise<A>): Effect.Effect<A, GatewayError> =>
    Effect.tryPromise({
      try: load,
      catch: () => {
        const message = `${PURPOSE[operation]} in this process needs the package ${name}: npm install ${packages.join(" ")}`
        return new GatewayError({ operation, reason: new InvalidRequest({ message }) })
      }
    })
