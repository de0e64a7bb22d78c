// Writes reference/api/: a page for each entry of the published packages, from the comments of their source.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Converter, ReflectionKind } from "typedoc"

const packages = join(import.meta.dirname, "../packages")

/** The name of each entry, such as `@sluice/core/client`, by its source file. */
const entries = new Map(
  readdirSync(packages).flatMap((folder) => {
    const { exports, name } = JSON.parse(readFileSync(join(packages, folder, "package.json"), "utf8"))
    return Object.entries(exports).flatMap(([path, target]) => {
      const source = target["@sluice/source"]
      return source === undefined ? [] : [[join(packages, folder, source), join(name, path)]]
    })
  })
)

/** @param {import("typedoc").Application} app */
const nameModules = (app) => {
  // Those of services are inherited, and no program calls them.
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }) => {
    for (const one of project.getReflectionsByKind(ReflectionKind.Constructor))
      if (one.inheritedFrom !== undefined) project.removeReflection(one)
  })
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (context, reflection) => {
    if (!reflection.kindOf(ReflectionKind.Module)) return
    const file = context.getSymbolFromReflection(reflection)?.declarations?.[0]?.getSourceFile().fileName
    reflection.name = entries.get(file ?? "") ?? reflection.name
  })
}

export default {
  name: "Packages",
  entryPoints: [...entries.keys()],
  plugin: ["typedoc-plugin-markdown", nameModules],
  tsconfig: "tsconfig.packages.json",
  // The project is checked by its own TypeScript, which is newer than what TypeDoc reads.
  skipErrorChecking: true,
  excludeExternals: true,
  excludeInternal: true,
  excludePrivate: true,
  disableSources: true,
  // Types of schemas repeat their fields many levels deep.
  maxTypeConversionDepth: 4,
  readme: "none",
  router: "module",
  out: "reference/api",
  entryFileName: "index",
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: "table",
  interfacePropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  useCodeBlocks: true,
  sanitizeComments: true
}
