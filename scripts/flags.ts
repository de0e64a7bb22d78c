/** The word after a flag on the command line of a script. */
export const flag = (name: string, otherwise = ""): string => {
  const at = process.argv.indexOf(name)
  return at < 0 ? otherwise : (process.argv[at + 1] ?? otherwise)
}
