/** The protocols of vendors behind the gateway's interface. */
export { DIALECTS, Dialects } from "./dialects/index.ts"
export { gateway } from "./protocol/GatewayDialect.ts"
export type * from "./protocol/Dialect.ts"
export {
  type DialectConnection,
  type DialectSettings,
  joinUrl,
  makeDialectClient,
  secretsOf
} from "./protocol/DialectClient.ts"
export { guessOperation, knownModel } from "./protocol/ModelFamilies.ts"
export { vendorLayers as Providers } from "./VendorLayers.ts"
export { preferredModel, preferredModels } from "./protocol/PreferredModels.ts"
export { listModels } from "./protocol/ListModels.ts"
export { layerVendorGateway, layerVendorTransport } from "./protocol/VendorTransport.ts"
