/** The server as a layer, for programs that start it themselves. */
export { ServerConfig } from "./Config.ts"
export * as Server from "./Server.ts"
export { StartError } from "./StartError.ts"
