import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

const { resolve } = createRequire(import.meta.url)

/** The fonts' licence must be beside them. */
const fontLicences = ["instrument-sans", "newsreader"].map((font) => ({
  fileName: `assets/${font}-OFL.txt`,
  source: () => readFileSync(resolve(`@fontsource-variable/${font}/LICENSE`))
}))

/** The page is built at install, into `apps/demo-server/dist-web`, and served from there. */
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  resolve: { conditions: ["@sluice/source", "module", "browser"] },
  plugins: [
    {
      name: "font-licences",
      generateBundle() {
        for (const { fileName, source } of fontLicences) {
          this.emitFile({ type: "asset", fileName, source: source() })
        }
      }
    }
  ],
  build: {
    outDir: fileURLToPath(new URL("../../dist-web", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    reportCompressedSize: false,
    rolldownOptions: {
      // The page uses a few constants of the contracts. Without this, their schemas come with them: 465 kB.
      treeshake: {
        moduleSideEffects: [{ test: /packages\/core\/|demo-server\/src\/contract\//, sideEffects: false }],
        manualPureFunctions: ["BigDecimal", "Schema"]
      }
    }
  }
})
