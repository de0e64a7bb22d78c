/** `Handbook › Leave › Parental leave, p. 4`: where a passage stands; a title that is also a heading is said once. */
export const placeOf = (
  title: string | undefined,
  headings: ReadonlyArray<string>,
  page?: number
): string => {
  const path = title === undefined ? headings : [title, ...headings.filter((heading) => heading !== title)]
  return [...(path.length > 0 ? [path.join(" › ")] : []), ...(page === undefined ? [] : [`p. ${page}`])].join(
    ", "
  )
}
