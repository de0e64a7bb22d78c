import { fileURLToPath } from "node:url"
import { defineConfig } from "vite"

/** The page is built at install, into `apps/demo-server/dist-web`, and served from there. */
export default defineConfig({
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: fileURLToPath(new URL("../../dist-web", import.meta.url)),
    emptyOutDir: true,
    target: "es2022",
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    modulePreload: false,
    reportCompressedSize: false
  }
})
