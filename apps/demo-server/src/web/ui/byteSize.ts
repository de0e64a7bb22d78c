const UNITS = ["B", "kB", "MB", "GB"] as const

/** `840 B`, `12 kB`, `3.4 MB`: decimal units, as file managers show them. */
export const byteSize = (bytes: number): string => {
  const power = Math.min(UNITS.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** power
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${UNITS[power]}`
}
