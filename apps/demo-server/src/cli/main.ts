/** The entry of the command line: arguments in, exit code out. Loaded by bin/sluice.js. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { run } from "./Run.ts"

NodeRuntime.runMain(run(process.argv.slice(2)), { disableErrorReporting: true })
