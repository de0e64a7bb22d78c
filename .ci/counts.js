// Reads vitest's JSON report and prints `passed failed skipped`. A file that failed before its tests ran counts as one
// failure, and so does a run that failed outside all tests (an unhandled error).
import { readFileSync } from "node:fs"

const [path = "", status = "1"] = process.argv.slice(2)
const { testResults } = JSON.parse(readFileSync(path, "utf8"))

let passed = 0
let failed = 0
let skipped = 0
for (const { assertionResults, status: whole } of testResults) {
  const before = failed
  for (const { status: one } of assertionResults) {
    if (one === "passed") passed += 1
    else if (one === "failed") failed += 1
    else skipped += 1
  }
  if (whole === "failed" && failed === before) failed += 1
}
if (status !== "0" && failed === 0) failed = 1
if (passed + failed + skipped === 0) throw new Error("the report has no tests")
console.log(passed, failed, skipped)
