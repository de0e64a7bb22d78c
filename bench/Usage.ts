/** What a process has used of the machine, as Linux tells it. */
import { readFileSync } from "node:fs"

/** Linux counts in hundredths of a second, whatever the kernel was built with. */
const TICK_MICROSECONDS = 10_000

/** Microseconds of CPU that a process has used so far, all its threads together; NaN where this is not Linux. */
export const cpuMicroseconds = (pid: number): number => {
  try {
    // The name of the program may have blanks in it: what is counted comes after its bracket.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /, "")
      .split(" ")
    return (Number(fields[11]) + Number(fields[12])) * TICK_MICROSECONDS
  } catch {
    return Number.NaN
  }
}

const megabytes = (pid: number, name: string): number => {
  try {
    const [, kilobytes = "NaN"] =
      new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}

/** The most memory that it ever had, in MB. */
export const peakMegabytes = (pid: number): number => megabytes(pid, "VmHWM")

/** What it has now, in MB. */
export const residentMegabytes = (pid: number): number => megabytes(pid, "VmRSS")
