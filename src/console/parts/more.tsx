/** Loads the rows of the next page. */
export function More(shown: {
  readonly query: {
    readonly hasNextPage: boolean
    readonly isFetchingNextPage: boolean
    readonly fetchNextPage: () => unknown
  }
  /** Describes the rows; by default they are older ones. */
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
