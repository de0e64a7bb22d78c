/** Packages that are heavy and not for everybody: loaded when they are needed, named when they are missing. */
import { GatewayError, InvalidRequest } from "@sluice/core"
import { Effect } from "effect"

/** The module, or an error that says how to install its package. */
export const optionalPackage = <A>(name: string, load: () => Promise<A>): Effect.Effect<A, GatewayError> =>
  Effect.tryPromise({
    try: load,
    catch: () =>
      new GatewayError({
        operation: "vision",
        reason: new InvalidRequest({
          message: `Looking at pictures in this process needs the package ${name}: npm install ${OPTIONAL.join(" ")}`
        })
      })
  })

const OPTIONAL = ["sharp", "tesseract.js", "@tesseract.js-data/eng", "@tesseract.js-data/chi_sim"]
