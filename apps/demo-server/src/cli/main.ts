/** Entry point of the command line. bin/sluice.js loads it. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { stopTeardown } from "../http/Shutdown.ts"
import { runSluice } from "./Sluice.ts"

const words = process.argv.slice(2)
NodeRuntime.runMain(runSluice(words), {
  disableErrorReporting: true,
  ...(words[0] === "serve" && { teardown: stopTeardown })
})
