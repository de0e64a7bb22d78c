/** The packages that looking at pictures needs. */
import { optionalPackageFor } from "../optionalPackage.ts"

/** The module, or an error that says how to install its package. */
export const optionalPackage = optionalPackageFor({
  operation: "vision",
  doing: "Looking at pictures",
  packages: ["sharp", "tesseract.js", "@tesseract.js-data/eng", "@tesseract.js-data/chi_sim"]
})
