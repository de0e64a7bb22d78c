/** Whether a line that was read from a picture says anything: marks of a drawing are read as dashes and dots. */
export const isWriting = (line: string): boolean => /[\p{L}\p{N}]/u.test(line)
