/** The server as a layer, for programs that embed it. */
export { ServerConfig } from "./config/ServerConfig.ts"
export * as Server from "./Server.ts"
export { StartError } from "./config/StartError.ts"
