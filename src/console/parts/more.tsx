/** The way to the rows of the next page. */
export function More(shown: {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
  /** What they are; else they are older. */
  readonly words?: string
}) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = shown.query
  if (!hasNextPage) return null
  return (
    <button
      type="button"
      class="more"
      disabled={isFetchingNextPage}
      onClick={() => void fetchNextPage()}
    >
      {isFetchingNextPage ? 'Loading…' : (shown.words ?? 'Show older')}
    </button>
  )
}
