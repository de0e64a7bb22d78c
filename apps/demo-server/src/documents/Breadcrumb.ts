/** The location of a passage: `handbook.pdf › page 3 › Locks`. */
export const breadcrumb = (
  start: string,
  { headings, page }: { readonly headings: ReadonlyArray<string>; readonly page?: number | undefined }
): string => [start, ...(page === undefined ? [] : [`page ${page}`]), ...headings].join(" › ")
