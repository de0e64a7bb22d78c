declare module "wink-porter2-stemmer" {
  /** The Porter 2 stem of an English word in lower case. */
  const stem: (word: string) => string
  export default stem
}
