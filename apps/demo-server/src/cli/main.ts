/** Entry point of the command line. bin/sluice.js loads it. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { runSluice } from "./Sluice.ts"

NodeRuntime.runMain(runSluice(process.argv.slice(2)), { disableErrorReporting: true })
