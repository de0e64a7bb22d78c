/** CPU and memory of a process, from /proc. */
import { readFileSync } from "node:fs"

/** Linux reports CPU time in hundredths of a second. */
const TICK_MICROSECONDS = 10_000

/** CPU microseconds of all threads of a process so far; NaN if this is not Linux. */
export const cpuMicroseconds = (pid: number): number => {
  try {
    // The program name in parentheses may contain blanks. The numbers come after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS
  } catch {
    return Number.NaN
  }
}

/** Current resident memory in MB; NaN if this is not Linux. */
export const residentMegabytes = (pid: number): number => {
  try {
    const [, kilobytes = "NaN"] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}
