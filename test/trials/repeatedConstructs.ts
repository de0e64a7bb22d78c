/** Files that repeat one construct until they have a size. */

/** A file of about `size` characters. */
export interface Monster {
  readonly name: string
  readonly path: string
  readonly make: (size: number) => string
}

export const filled = (unit: string | ((i: number) => string), size: number): string => {
  if (typeof unit === "string") return unit.repeat(Math.ceil(size / unit.length))
  const parts: Array<string> = []
  for (let length = 0, i = 0; length < size; i++) {
    const part = unit(i)
    parts.push(part)
    length += part.length
  }
  return parts.join("")
}

export const repeated = (
  format: string,
  units: Readonly<Record<string, string | ((i: number) => string)>>
): ReadonlyArray<Monster> =>
  Object.entries(units).map(([name, unit]) => ({
    name: `${format}: ${name}`,
    path: `monster.${format}`,
    make: (size) => filled(unit, size)
  }))

export const around = (
  format: string,
  shapes: Readonly<Record<string, readonly [before: string, unit: string, after: string]>>
): ReadonlyArray<Monster> =>
  Object.entries(shapes).map(([name, [before, unit, after]]) => ({
    name: `${format}: ${name}`,
    path: `monster.${format}`,
    make: (size) => `${before}${filled(unit, size)}${after}`
  }))
