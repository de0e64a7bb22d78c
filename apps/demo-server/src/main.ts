/** `npm start`. */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Effect, Layer } from "effect"
import * as Server from "./Server.ts"
import { reportStartError } from "./StartError.ts"

Layer.launch(Server.layer).pipe(
  Effect.catchCause(reportStartError),
  Effect.provide(NodeServices.layer),
  NodeRuntime.runMain
)
