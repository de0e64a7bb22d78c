/** Writes the version of package.json into core's source. `npm run -s release:version` runs it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const core = join(import.meta.dirname, "../packages/core")
const { version } = JSON.parse(readFileSync(join(core, "package.json"), "utf8"))
const source = join(core, "src/contract/GatewayApi.ts")
const text = readFileSync(source, "utf8")
writeFileSync(source, text.replace(/(PACKAGE_VERSION = )"[^"]*"/, `$1"${version}"`))
