/** Where the file of the providers is. */
import { Config, Effect, FileSystem, Path } from "effect"
import { ServerConfig } from "../config/ServerConfig.ts"
import { StartError } from "../config/StartError.ts"

/** What it is called where `SLUICE_CONFIG` names no other. */
const PROVIDERS_FILE = "sluice.config.json"

/** Absolute; undefined where there is none and none was asked for. */
export const providersPath = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { gateway } = yield* ServerConfig
  const asked = yield* Effect.orElseSucceed(Config.String("SLUICE_CONFIG"), () => "")
  const file = path.resolve(asked.trim() === "" ? PROVIDERS_FILE : asked.trim())
  const exists = yield* Effect.orElseSucceed(fs.exists(file), () => false)
  if (!exists) {
    return asked.trim() === ""
      ? undefined
      : yield* new StartError({ message: `SLUICE_CONFIG names ${file}, which is not there` })
  }
  if (gateway !== undefined) {
    return yield* new StartError({
      message: `${file} and SLUICE_GATEWAY_URL both say who answers: make the gateway an upstream of the file, or move the file away`
    })
  }
  return file
})
