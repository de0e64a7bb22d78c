export const bounded: Readonly<Record<string, Readonly<Record<string, string>>>> = {}
